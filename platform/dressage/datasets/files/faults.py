"""Faults of a whole file."""


class FileFaultError(ValueError):
    """The file as a whole cannot be read. The text is a sentence for the one who has uploaded it."""
