"""Warnings about a console that others reach without TLS, or by a proxy that is not believed."""

from django.core.checks import CheckMessage, Tags, Warning, register

from dressage.config import Config, config

_NOT_BELIEVED = (
    "DRESSAGE_TRUSTED_PROXIES names no proxy, so the one with TLS in front is not believed: plain requests are not "
    "sent to https, browsers are not told to stay there, and all clients count as one address. Set it to that proxy's "
    "address."
)


def exposure(config: Config) -> str | None:
    """The sentence that tells what is not protected; None where nothing leaves this machine in the clear."""
    if config.public_url.startswith("https://"):
        return None if config.resolved_trusted_proxies else _NOT_BELIEVED
    if config.is_local:
        return None
    return (
        f"{config.public_url} is plain http: whoever is on the way between a browser and this machine can read and "
        "change all that travels, and with it passwords, sessions, API tokens and the keys of judges. Put a proxy with "
        "TLS in front and set DRESSAGE_URL to its https:// address, see docs/security.md."
    )


@register(Tags.security, deploy=True)
def check_exposure(**_: object) -> list[CheckMessage]:
    """Stand for Django's warnings about cookies, HSTS and redirects, which plain http cannot heed."""
    # In production each of these is an error of its own.
    sentence = None if config.mode == "production" else exposure(config)
    return [Warning(sentence, id="dressage.W001")] if sentence else []
