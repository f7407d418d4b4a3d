"""Files of the data folder are private to their owner: the umask, secrets created once, older files tightened."""

import os
import secrets
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

OWN_ENTRIES = (
    "postgres*", "redis", "ray-token", "secret-key", "cluster-secret", "encryption-keys", "up.lock", "beat-schedule*",
    "datasets", "policies", "runs", "static",
)  # fmt: skip
"""Entries that an installation creates in its folder. That may be a home folder, whose other files are not ours."""
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def keep_new_files_private() -> None:
    """Have this process, and those that it starts, create files and folders that no other user can read or list."""
    os.umask(0o077)


def secret_in(path: Path, fresh: str | None = None) -> str:
    """The secret that a file holds; created on first use. Concurrent processes all get the same one.

    Args:
        path: the file.
        fresh: content if there is no file; None for 384 random bits.
    """
    with suppress(FileNotFoundError):
        return path.read_text().strip()
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=f".{path.name}-") as file:  # created with 0600
        file.write(fresh or secrets.token_urlsafe(48))
        file.flush()
        os.fsync(file.fileno())
        with suppress(FileExistsError):  # whole or not at all: no process reads half a secret
            os.link(file.name, path)
    return path.read_text().strip()


def write_secret(path: Path, text: str) -> None:
    """Replace a secret's file atomically: a reader finds the old text or the new one."""
    with tempfile.NamedTemporaryFile("w", dir=path.parent, prefix=f".{path.name}-", delete=False) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(file.name, path)
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Make the names in a folder survive a power failure."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def tighten(home: Path, passable: bool = False) -> list[Path]:
    """Revoke other users' access to the files of an installation that was created with a wider umask.

    A folder that is already closed is not entered: no other user gets through it. Links are not followed.

    Args:
        home: the data folder.
        passable: whether others may pass through the folder itself, without listing it, to what they own inside.

    Returns:
        Paths that were open, without anything below them.

    Raises:
        PermissionError: something belongs to another user; names it.
    """
    entries = sorted({path for pattern in OWN_ENTRIES for path in home.glob(pattern)})
    opened = [path for path in entries if close_to_others(path)]
    is_users_home = home.resolve() == Path.home().resolve()
    if not is_users_home and _restrict(home, 0o711 if passable else 0o700):
        opened.insert(0, home)
    return opened


def close_to_others(path: Path) -> bool:
    """Close a file, or a folder with everything in it. Returns False if it is already closed, or a link."""
    if not _restrict(path, 0o700):
        return False
    if path.is_dir():
        for child in path.iterdir():
            close_to_others(child)
    return True


def _restrict(path: Path, most: int) -> bool:
    """Limit a file's permissions to its owner's and ``most``. Returns whether it had more."""
    found = path.lstat()
    mode = stat.S_IMODE(found.st_mode)
    if stat.S_ISLNK(found.st_mode) or not mode & _OTHERS & ~most:
        return False
    path.chmod(mode & ~(_OTHERS & ~most))
    return True
