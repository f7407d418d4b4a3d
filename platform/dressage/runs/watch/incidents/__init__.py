"""Incidents of a run: what is wrong, read from its stored events, findings and metrics. Nothing is written."""
