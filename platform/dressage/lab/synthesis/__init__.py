"""Variations of rows that a model writes, verified by the graders of a reward before they enter a version."""
