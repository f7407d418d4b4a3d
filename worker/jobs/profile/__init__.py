"""Profiles: a policy answers the rows of a dataset version, as often as it takes to know how hard they are for it."""
