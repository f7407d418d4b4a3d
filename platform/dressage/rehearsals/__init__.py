"""Rehearsals: a few prompts of a run's spec that the cluster samples and grades before the run begins."""
