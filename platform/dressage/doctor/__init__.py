"""``manage.py doctor``: looks for the usual faults of an installation, and says what to do about each.

It needs no database and no Django: what it looks for keeps these from starting. Each check is a generator of findings
that is handed the installation (``Place``); ``examine`` runs all of them.
"""
