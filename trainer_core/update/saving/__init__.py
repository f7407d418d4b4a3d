"""Checkpoints, and what makes them trustworthy."""
