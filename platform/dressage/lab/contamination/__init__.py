"""Contamination: rows that occur in evaluation sets, detected by equal texts, near texts, and shared runs of words."""
