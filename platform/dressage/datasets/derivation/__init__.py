"""Versions that are made of others: by edits, filters, splits and merges, each with its lineage."""
