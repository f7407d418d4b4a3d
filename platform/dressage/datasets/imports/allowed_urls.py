"""URLs that datasets may be imported from: those that match a prefix in ``DATASET_IMPORT_URLS``."""

import re
from collections.abc import Iterable
from typing import Literal
from urllib.parse import unquote, urlsplit

_PORTS = {"http": 80, "https": 443}
_ODD = re.compile(r"[\s\\\x00-\x1f\x7f]")

How = Literal["host", "any", None]
"""``host``: an entry names the host itself, so it may have any address. ``any``: an entry with a star, which allows
only hosts on the public internet."""


def how_allowed(url: str, entries: Iterable[str]) -> How:
    """Rule by which a URL is allowed. None if it is not."""
    allowed = [how for entry in entries if (how := _how(url, entry)) is not None]
    return "host" if "host" in allowed else "any" if allowed else None


def is_address(url: str) -> bool:
    """Whether it is a plain http or https URL: no credentials, no ``..`` segments, no unusual characters."""
    if _ODD.search(url):
        return False
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    if parts.scheme not in _PORTS or not parts.hostname or port == 0 or "@" in parts.netloc:
        return False
    steps = unquote(unquote(parts.path)).replace("\\", "/").split("/")
    return ".." not in steps and "." not in steps


def plain(url: str) -> str:
    """The URL without its query, which may contain a signature."""
    return urlsplit(url)._replace(query="", fragment="").geturl()


def _how(url: str, entry: str) -> How:
    if not is_address(url):
        return None
    mine, theirs = urlsplit(url), urlsplit(entry)
    if mine.scheme != theirs.scheme or (mine.port or _PORTS[mine.scheme]) != (theirs.port or _PORTS[theirs.scheme]):
        return None
    path, beginning = mine.path or "/", theirs.path or "/"
    # Match whole path segments: /sets allows /sets/a, not /sets-of-others.
    if path != beginning and not path.startswith(beginning if beginning.endswith("/") else beginning + "/"):
        return None
    host, named = (mine.hostname or "").rstrip("."), (theirs.hostname or "").rstrip(".")
    if host == named:
        return "host"
    return "any" if named == "*" or (named.startswith("*.") and host.endswith(named[1:])) else None
