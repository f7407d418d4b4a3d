"""Rows that a model has memorised: it sees their beginning, and its continuation is compared with the rest."""
