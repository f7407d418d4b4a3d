"""Trace files: samples of a run's steps with their tokens, on disk under an index, kept by the run's rule."""
