"""Background work: the columns, the states and the sweep that all kinds of jobs share, wherever they run.

``local`` is the life cycle of jobs that the platform's own worker does. Jobs of a cluster are in
``dressage.cluster_jobs``.
"""
