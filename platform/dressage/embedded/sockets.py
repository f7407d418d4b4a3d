"""Addresses of the embedded servers: Unix sockets in a private folder, never a TCP port."""

import hashlib
import os
import tempfile
from pathlib import Path


def socket_dir(home: Path, name: str) -> Path:
    """A private folder (0700) with a short path, since a socket's path may have at most 107 bytes.

    The folder is derived from ``home``, so every process of one installation finds the same one.
    """
    digest = hashlib.sha256(str(home.resolve()).encode()).hexdigest()[:12]
    base = Path(os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir())
    parent = base / f"dressage-{os.getuid()}-{digest}"
    parent.mkdir(mode=0o700, exist_ok=True)
    if parent.lstat().st_uid != os.getuid():
        raise PermissionError(f"{parent} belongs to another user; remove it or set XDG_RUNTIME_DIR")
    folder = parent / name
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder
