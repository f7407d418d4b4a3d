"""Profiles: a policy answers the rows of a dataset version until it is known how hard they are for it."""
