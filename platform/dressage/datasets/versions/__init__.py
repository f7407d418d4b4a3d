"""Versions on disk and in the database: storage, notes, differences, downloads, deletion and what keeps from it."""
