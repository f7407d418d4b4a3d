"""Rows that say the same in other words: a model makes vectors of them, which are compared."""
