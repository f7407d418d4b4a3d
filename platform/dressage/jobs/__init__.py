"""Work in the background: the columns, the states and the sweep that every kind of job has, wherever it is done.

``local`` is the life of jobs that the platform's own worker does. Those of a cluster are in ``dressage.cluster_jobs``.
"""
