"""Rows that a model knows by heart: it is shown their beginning, and what it writes is held against the rest."""
