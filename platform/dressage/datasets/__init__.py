"""Immutable dataset versions: upload, validation, storage, preview."""
