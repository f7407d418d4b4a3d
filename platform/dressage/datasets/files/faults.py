"""Faults of a whole file."""


class FileFaultError(ValueError):
    """The file as a whole cannot be read. The message is a sentence for the user who uploaded it."""
