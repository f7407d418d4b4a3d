"""Runs that learn from rows: what is encoded, drawn, learned and evaluated."""
