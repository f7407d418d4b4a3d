"""The relying party of WebAuthn: the name and the origin for which passkeys are valid."""

from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from django.conf import settings

from dressage.common.api.problems import conflict
from dressage.config import origin_of

_LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True)
class RelyingParty:
    """Exact name and origin of the console."""

    id: str
    origin: str


def relying_party() -> RelyingParty | None:
    """The console as named by ``DRESSAGE_URL``. On this machine it is ``localhost``: IP addresses have no passkeys.

    None if browsers offer no passkeys: at an address without a name, and without https.
    """
    parts = urlsplit(settings.PUBLIC_URL)
    host = parts.hostname or ""
    if host in _LOOPBACK:
        port = f":{parts.port}" if parts.port else ""
        return RelyingParty("localhost", origin_of(f"{parts.scheme}://localhost{port}"))
    return RelyingParty(host, origin_of(settings.PUBLIC_URL)) if parts.scheme == "https" and _is_name(host) else None


def needed_relying_party() -> RelyingParty:
    """The same. Raises a 409 problem if there is none."""
    party = relying_party()
    if party is None:
        detail = "Passkeys need an https address with a host name. Ask the operator to set DRESSAGE_URL to one."
        raise conflict(detail, code="no_passkeys_here")
    return party


def _is_name(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return True
    return False
