"""Turns a PostgreSQL URL into Django's database settings."""

from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit


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
        "OPTIONS": {"pool": {"min_size": 0, "max_size": 20, "timeout": 10}, **options},
    }
