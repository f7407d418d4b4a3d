"""Versions derived from other versions by edits, filters, splits and merges, each with its lineage."""
