"""Checkpoints and their integrity checks."""
