"""Trace files: samples of a run's steps with their tokens, indexed on disk and retained by the run's rule."""
