"""User actions on a run: create, start, pause, resume, cancel; and the states of runs."""
