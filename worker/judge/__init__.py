"""Judges: language models behind an endpoint or on an engine of the cluster, with hundreds of requests in flight."""
