"""Faults of secrets: files that others can read, keys that are too short."""

import stat
from collections.abc import Iterator

from dressage.doctor.fault import Fault
from dressage.doctor.place import Place

_FILES = ("secret-key", "cluster-secret", "encryption-keys", "ray-token")


def permissions(place: Place) -> Iterator[Fault]:
    """Files with secrets are accessible to their owner only."""
    for name in _FILES:
        path = place.config.home / name
        try:
            mode = stat.S_IMODE(path.stat().st_mode)
        except OSError:
            continue
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            yield Fault(
                "secret-readable",
                f"{path} can be read by other users (mode {mode:03o}).",
                f"Run `chmod 600 {path}`, and replace the secret if others use this machine.",
            )


def key_length(place: Place) -> Iterator[Fault]:
    """A configured key is long enough."""
    key = place.config.secret_key
    if key is not None and len(key) < 50:
        yield Fault(
            "secret-key-short",
            f"DRESSAGE_SECRET_KEY has {len(key)} characters: sessions and tokens of workers could be forged.",
            "Set it to 50 random characters or more, such as `openssl rand -hex 32` writes. This signs all users out.",
        )
