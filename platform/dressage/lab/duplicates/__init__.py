"""Duplicates of rows: equal ones by their normal form, near ones by MinHash, verified shingle by shingle."""
