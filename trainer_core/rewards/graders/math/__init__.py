"""Graders of final answers: mathematics, numbers and letters of a choice."""
