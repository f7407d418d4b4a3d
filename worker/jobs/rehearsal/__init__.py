"""Rehearsals: a few prompts of a run that has not begun, sampled and graded by the parts that the run itself starts."""
