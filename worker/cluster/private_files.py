"""Files that an actor writes are its owner's alone, whatever the mask of the node that it runs on."""

import os


def keep_new_files_private() -> None:
    """Have this process, and those that it starts, make files and folders that no other user can read or list."""
    os.umask(0o077)
