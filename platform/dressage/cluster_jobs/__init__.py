"""Jobs that clusters work on: one life, one lease, one link and one sweep for every kind. See ``kinds.ClusterKind``."""
