"""Finds an installation in the user's home folder, where an earlier release used ``HOME`` as ``DRESSAGE_HOME``.

It is only reported: nothing there is opened for writing, moved or deleted.
"""

from collections.abc import Mapping
from pathlib import Path

_DATABASE = ("postgres-ready", "postgres-password", "postgres/PG_VERSION")
_STARTED = "up.lock"
_BESIDE = ("postgres-ready", "secret-key", "ray-token", "beat-schedule", "redis/appendonlydir")


def find_former_installation(environment: Mapping[str, str], home: Path) -> Path | None:
    """The user's home folder, if it holds an installation that is not the one in use.

    Args:
        environment: the process's variables. If they set ``DRESSAGE_HOME``, the choice is deliberate, and nothing is
            searched.
        home: the data folder in use.
    """
    user_home = Path(environment.get("HOME") or "/nonexistent")
    if "DRESSAGE_HOME" in environment or user_home.resolve() == home.resolve():
        return None
    return user_home if _holds_installation(user_home) else None


def former_installation_message(former: Path, home: Path) -> str:
    """The notice shown at each start, until ``DRESSAGE_HOME`` says which of the two folders to use."""
    return (
        f"An earlier installation is in {former}: its database, datasets and runs are there because HOME was\ntaken for"
        f" DRESSAGE_HOME. It is unchanged, and NOT used: this start uses {home.resolve()}.\n  To use the earlier one:"
        f"         export DRESSAGE_HOME={former}\n  To keep this one, silently:       export"
        f" DRESSAGE_HOME={home.resolve()}"
    )


def _holds_installation(folder: Path) -> bool:
    """True for a combination of marks that no other program leaves; a single such name might belong to anything."""
    prepared = all(_is_there(folder / name) for name in _DATABASE)
    started = _is_there(folder / _STARTED) and any(_is_there(folder / name) for name in _BESIDE)
    return prepared or started


def _is_there(path: Path) -> bool:
    """False also for a path that may not be read: the embedded PostgreSQL may belong to another user."""
    try:
        return path.exists()
    except PermissionError:
        return False
