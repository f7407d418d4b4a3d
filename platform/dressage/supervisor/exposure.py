"""Warnings about a console that others reach without TLS, or through a proxy that is not trusted."""

from django.core.checks import CheckMessage, Tags, Warning, register

from dressage.config import Config, config

_NOT_BELIEVED = (
    "DRESSAGE_TRUSTED_PROXIES is empty, so the TLS proxy is not trusted: plain requests are not redirected to https,"
    " HSTS is off, and all clients count as one address. Set it to that proxy's address."
)


def exposure(config: Config) -> str | None:
    """A sentence about what is not protected; None if nothing leaves this machine unencrypted."""
    if config.public_url.startswith("https://"):
        return None if config.resolved_trusted_proxies else _NOT_BELIEVED
    if config.is_local:
        return None
    return (
        f"{config.public_url} is plain http: anyone on the network between a browser and this machine can read and"
        " change all traffic, including passwords, sessions, API tokens and judge keys. Put a TLS proxy in front and"
        " set DRESSAGE_URL to its https:// address, see docs/security.md."
    )


@register(Tags.security, deploy=True)
def check_exposure(**_: object) -> list[CheckMessage]:
    """Replace Django's warnings about cookies, HSTS and redirects, which cannot be followed on plain http."""
    # In production each of these is an error of its own.
    sentence = None if config.mode == "production" else exposure(config)
    return [Warning(sentence, id="dressage.W001")] if sentence else []
