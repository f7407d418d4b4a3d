"""Secrets of teams at rest: Fernet (AES-128-CBC with HMAC-SHA256) under keys that are stored outside of the database.

The keys come from ``DRESSAGE_ENCRYPTION_KEYS``, else from a file in the data folder. The first one seals, all of them
open. Code that seals in a transaction calls ``hold_keys`` first, before it locks rows: it waits for a rotation, and a
rotation waits for it.
"""

from collections.abc import Callable
from dataclasses import dataclass

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.db import connection, transaction

from dressage.embedded.private_files import secret_in, write_secret

_ROTATION_LOCK = 0x6472_6573_7361_6B79
"""Advisory lock: shared by transactions that seal, held exclusively by a rotation."""


class UnsealError(ValueError):
    """A stored secret cannot be read: its key is not one of the installation's, or it has been tampered with."""


@dataclass(frozen=True, slots=True)
class Resealed:
    """Result of sealing stored secrets again."""

    count: int = 0
    """Number of secrets that are sealed under the first key now."""
    unreadable: tuple[str, ...] = ()
    """Names of secrets that no key opens; they are left unchanged."""

    def __add__(self, other: "Resealed") -> "Resealed":
        return Resealed(self.count + other.count, self.unreadable + other.unreadable)


Reseal = Callable[[], Resealed]
"""Seals every stored secret of an app again."""
_ROOMS: list[Reseal] = []


def register_sealed(reseal: Reseal) -> None:
    """Have each rotation seal an app's secrets again. For ``AppConfig.ready``; harmless when called twice."""
    if reseal not in _ROOMS:
        _ROOMS.append(reseal)


def seal(secret: str) -> str:
    """``secret``, encrypted."""
    return _box(_keys()).encrypt(secret.encode()).decode()


def unseal(sealed: str, older: tuple[Fernet, ...] = ()) -> str:
    """Open a sealed secret.

    Args:
        sealed: output of ``seal``.
        older: additional keys, which the installation had earlier.

    Raises:
        UnsealError: no key opens it.
    """
    try:
        return _box(_keys(), older).decrypt(sealed.encode()).decode()
    except InvalidToken as error:
        raise UnsealError("The stored secret was encrypted with a key that is missing.") from error


def hold_keys() -> None:
    """Block rotations until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock_shared(%s)", [_ROTATION_LOCK])


def rotate() -> Resealed:
    """Seal everything under a new key, and forget the previous keys unless they may still be needed.

    Keys in the environment can only be changed by the operator: then everything is sealed under the first one.
    """
    own_file, key = not settings.ENCRYPTION_KEYS, _new_key()
    with transaction.atomic():
        _hold_keys_alone()
        if own_file:
            write_secret(settings.ENCRYPTION_KEY_FILE, "\n".join([key, *_keys()]))
        done = sum((reseal() for reseal in _ROOMS), Resealed())
    if own_file and not done.unreadable:
        _forget_all_but(key)
    return done


def _forget_all_but(key: str) -> None:
    """Keep only ``key``, unless another rotation has happened since: its secrets are sealed under its own key."""
    with transaction.atomic():
        _hold_keys_alone()
        if _keys()[0] == key:
            write_secret(settings.ENCRYPTION_KEY_FILE, key)


def _hold_keys_alone() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_ROTATION_LOCK])


def _keys() -> tuple[str, ...]:
    """The installation's keys, newest first. Read on each use, since a rotation is another process."""
    return settings.ENCRYPTION_KEYS or tuple(secret_in(settings.ENCRYPTION_KEY_FILE, _new_key()).split())


def _box(keys: tuple[str, ...], older: tuple[Fernet, ...] = ()) -> MultiFernet:
    return MultiFernet([*(Fernet(key) for key in keys), *older])


def _new_key() -> str:
    return Fernet.generate_key().decode()
