"""Duplicate rows: equal ones by their normal form, near ones by MinHash, verified by their shingles."""
