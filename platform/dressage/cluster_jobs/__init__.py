"""Jobs for clusters: all kinds share one life cycle, lease, link and sweep. See ``kinds.ClusterKind``."""
