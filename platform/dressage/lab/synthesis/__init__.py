"""Variations of rows, written by a model and verified by the graders of a reward before they enter a version."""
