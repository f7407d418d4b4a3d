"""Versions on disk and in the database: storage, notes, diffs, downloads, deletion and what prevents it."""
