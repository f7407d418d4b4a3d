"""Incidents of a run: problems derived from its stored events, findings and metrics. Nothing is written."""
