"""Requirements of ``DRESSAGE_MODE=production``: an installation that others use, over a network, around the clock."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from django.core.checks import CheckMessage, Error, Tags, Warning, register

from dressage.config import Config, config

_LOCAL = ("127.0.0.1", "localhost", "::1")


def refusals(config: Config) -> Iterator[tuple[str, str]]:
    """(id, sentence) of each setting that keeps an installation in production from starting."""
    if not config.public_url.startswith("https://"):
        yield (
            "E001",
            f"DRESSAGE_URL is {config.public_url}: production needs TLS. Put a TLS proxy in front and set DRESSAGE_URL"
            " to its https:// address.",
        )
    if not config.resolved_trusted_proxies:
        yield (
            "E002",
            "DRESSAGE_TRUSTED_PROXIES is empty: the client and its use of TLS are unknown. Set it to the addresses or"
            " networks of the TLS proxy, such as 10.0.0.0/8.",
        )
    if config.debug:
        yield (
            "E003",
            "DRESSAGE_DEBUG is on: error pages show settings and source to everyone. Unset it.",
        )
    if any(name.startswith("*") for name in config.resolved_hosts):
        yield (
            "E004",
            "DRESSAGE_HOSTS accepts any name: a forged Host header would be trusted. List the hosts, or a domain with"
            " its subdomains as .example.com.",
        )


def advice(config: Config) -> Iterator[tuple[str, str]]:
    """(id, sentence) of each recommended setting that is missing in production, and the consequence."""
    if config.email_url is None:
        yield (
            "W002",
            "DRESSAGE_EMAIL_URL names no mail server: invitation links are shown to the inviters, and no address is"
            " verified. Set it to smtps://user:password@mail.example.com.",
        )
    link = urlsplit(config.resolved_link_url).hostname
    if config.ray_address and not _is_here(config.ray_address) and link in _LOCAL:
        yield (
            "W003",
            f"LINK_URL is {config.resolved_link_url}, but the Ray cluster at {config.ray_address} is elsewhere: its"
            " workers cannot reach the platform there. Set it to an address that the cluster's nodes can reach.",
        )


def _is_here(address: str) -> bool:
    host = urlsplit(address if "//" in address else f"//{address}").hostname
    return host in (*_LOCAL, "auto", "local")


@register(Tags.security, deploy=True)
def check_production(**_: object) -> list[CheckMessage]:
    """Describe what is missing if the installation is in production."""
    if config.mode != "production":
        return []
    errors = [Error(sentence, id=f"dressage.{name}") for name, sentence in refusals(config)]
    return [*errors, *(Warning(sentence, id=f"dressage.{name}") for name, sentence in advice(config))]
