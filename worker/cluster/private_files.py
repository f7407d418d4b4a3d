"""Keep files that an actor writes private to its owner, regardless of the node's umask."""

import os


def keep_new_files_private() -> None:
    """Make this process and its children create files and folders that no other user can read or list."""
    os.umask(0o077)
