"""``manage.py doctor``: looks for common faults of an installation, and says what to do about each.

It needs no database and no Django, since the faults may keep these from starting. Each check is a generator of findings
that receives the installation (``Place``); ``examine`` runs all of them.
"""
