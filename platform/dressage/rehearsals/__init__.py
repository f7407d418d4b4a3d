"""Rehearsals: the cluster samples and grades a few prompts of a run's spec before the run starts."""
