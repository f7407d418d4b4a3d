"""Parses the URL of a mail server."""

from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

_LOCAL = ("localhost", "127.0.0.1", "::1")
_PORTS = {"smtp": 587, "smtps": 465}


@dataclass(frozen=True)
class MailServer:
    """A mail server and its connection settings."""

    host: str
    port: int
    user: str
    password: str
    tls: bool
    """Encrypted from the first byte."""
    starttls: bool
    """Encrypted after a greeting; a server without support is refused."""


def parse_email_url(url: str) -> MailServer:
    """The server of ``smtp://user:password@host:port`` or ``smtps://…``.

    ``smtps`` is encrypted from the first byte, ``smtp`` by STARTTLS. Only a server on this machine is used without
    encryption.

    Raises:
        ValueError: the URL names no mail server, or contains more than that.
    """
    parts = urlsplit(url)
    if parts.scheme not in _PORTS or not parts.hostname:
        raise ValueError(
            "DRESSAGE_EMAIL_URL must be smtp://user:password@host:port or smtps://user:password@host:port."
        )
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise ValueError("DRESSAGE_EMAIL_URL ends with the port: remove what follows it.")
    return MailServer(
        host=parts.hostname,
        port=parts.port or _PORTS[parts.scheme],
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
        tls=parts.scheme == "smtps",
        starttls=parts.scheme == "smtp" and parts.hostname not in _LOCAL,
    )
