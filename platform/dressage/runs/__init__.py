"""Runs: specs, lifecycle, controls, checkpoints, and the link to the workers."""
