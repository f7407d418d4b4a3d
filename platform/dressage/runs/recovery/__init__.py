"""Continuation of a run: attempts, checkpoints, forks and rewinds, returned slots, and actions of guards."""
