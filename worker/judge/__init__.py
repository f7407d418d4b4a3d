"""Judges: language models behind an endpoint, or served by an engine of the cluster, asked hundreds at a time."""
