"""Turns a PostgreSQL URL into Django's database settings."""

from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

_ALIVE = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3, "tcp_user_timeout": 30_000}
"""Detects a server that has silently disappeared, such as after a failover, while a busy one is left alone."""


def database_settings(url: str, *, pool: int, wait_s: float) -> dict[str, Any]:
    """Django settings of the installation's database.

    Args:
        url: see ``parse_database_url``; its options override these.
        pool: maximum number of connections in one process.
        wait_s: seconds that a request waits for one of them, and that a new one waits for the server.
    """
    found = parse_database_url(url)
    waiting = {"pool": {"min_size": 0, "max_size": pool, "timeout": wait_s}, "connect_timeout": max(2, round(wait_s))}
    return {**found, "OPTIONS": {**waiting, **_ALIVE, **found["OPTIONS"]}}


def parse_database_url(url: str) -> dict[str, Any]:
    """Django settings for ``postgresql://user:password@host:port/name?host=/socket/folder``.

    Raises:
        ValueError: the URL is not a PostgreSQL one.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("postgresql", "postgres"):
        raise ValueError(f"DATABASE_URL must start with postgresql://, not {parts.scheme}://")
    options = dict(parse_qsl(parts.query))
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": options.pop("host", None) or parts.hostname or "",
        "PORT": str(parts.port or ""),
        "OPTIONS": options,
    }
