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
            f"DRESSAGE_URL is {config.public_url}: in production browsers come by TLS. Put a proxy with TLS in front "
            "and set DRESSAGE_URL to its https:// address.",
        )
    if not config.resolved_trusted_proxies:
        yield (
            "E002",
            "DRESSAGE_TRUSTED_PROXIES names no proxy: nobody can tell who calls, or whether TLS was used. Set it to "
            "the addresses or networks of the proxy with TLS, such as 10.0.0.0/8.",
        )
    if config.debug:
        yield (
            "E003",
            "DRESSAGE_DEBUG is on: pages of errors show settings and source to everybody. Take the variable away.",
        )
    if any(name.startswith("*") for name in config.resolved_hosts):
        yield (
            "E004",
            "DRESSAGE_HOSTS takes any name: a forged Host header would be believed. Name the hosts one by one, or a "
            "domain with all below it as .example.com.",
        )


def advice(config: Config) -> Iterator[tuple[str, str]]:
    """(id, sentence) of each recommended setting that is missing in production, and the consequence."""
    if config.email_url is None:
        yield (
            "W002",
            "DRESSAGE_EMAIL_URL names no mail server: links of invitations are shown to those who invite, and nobody's "
            "address is proven. Set it to smtps://user:password@mail.example.com.",
        )
    link = urlsplit(config.resolved_link_url).hostname
    if config.ray_address and not _is_here(config.ray_address) and link in _LOCAL:
        yield (
            "W003",
            f"LINK_URL is {config.resolved_link_url}, but the Ray cluster at {config.ray_address} is elsewhere: its "
            "workers cannot reach the platform there. Set it to an address that the cluster's nodes reach.",
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
