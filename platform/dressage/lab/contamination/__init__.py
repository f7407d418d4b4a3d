"""Contamination: rows that evaluation sets have, by equal texts, near ones, and runs of words that both have."""
