"""The provider, as Authlib talks to it: discovery, PKCE, state, nonce, and the checks of the ID token."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import requests
from authlib.integrations.base_client.errors import OAuthError
from authlib.integrations.django_client import DjangoIntegration, DjangoOAuth2App
from authlib.integrations.requests_client import OAuth2Session
from django.conf import settings
from django.http import HttpRequest
from joserfc.errors import JoseError

_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")
_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519")
"""Signatures by a key that only the provider has. Other algorithms that it lists, such as ``none``, are refused."""
_TIMEOUT_S = 10.0
_LEEWAY_S = 60


class ProviderError(Exception):
    """The provider cannot be reached, or its response is not valid."""


class _Session(OAuth2Session):
    """Requests the provider's own addresses: follows no redirects, and has a timeout."""

    def request(self, method: str, url: str, **options: Any) -> requests.Response:
        return super().request(method, url, **{**options, "allow_redirects": False, "timeout": _TIMEOUT_S})


class _App(DjangoOAuth2App):
    client_cls = _Session

    def load_server_metadata(self) -> dict[str, Any]:
        """The provider's document, whose issuer must match the configured one exactly."""
        metadata: dict[str, Any] = super().load_server_metadata()
        if metadata.get("issuer") != settings.OIDC_ISSUER:
            raise ProviderError(f"the provider's document names the issuer {metadata.get('issuer')!r}")
        for name in _ENDPOINTS:
            if not is_trusted(str(metadata.get(name, ""))):
                raise ProviderError(f"{name} of the provider is not an https address")
        offered = metadata.get("id_token_signing_alg_values_supported", ["RS256"])
        metadata["id_token_signing_alg_values_supported"] = [name for name in _ALGORITHMS if name in offered]
        return metadata


def is_trusted(url: str) -> bool:
    """Whether an address uses https, or is on the same host as an issuer on this machine."""
    parts, issuer = urlsplit(url), urlsplit(settings.OIDC_ISSUER)
    return parts.scheme == "https" or (issuer.scheme == "http" and parts[:2] == issuer[:2])


def begin(request: HttpRequest, redirect_uri: str) -> str:
    """The provider's address to send the browser to. State, nonce and verifier are stored in the session.

    Raises:
        ProviderError: the provider cannot be reached.
    """
    app = _app()
    try:
        begun = app.create_authorization_url(redirect_uri)
    except (requests.RequestException, OAuthError, ValueError, TypeError, AttributeError) as error:
        raise ProviderError(str(error)) from error
    app.save_authorize_data(request, redirect_uri=redirect_uri, **begun)
    return str(begun["url"])


def finish(request: HttpRequest) -> Mapping[str, Any]:
    """The claims of the ID token that the code in ``request`` is exchanged for; its state is used up.

    Raises:
        ProviderError: the provider refuses, or state, code, signature or a claim is not valid.
    """
    if request.GET.get("iss", settings.OIDC_ISSUER) != settings.OIDC_ISSUER:
        raise ProviderError("the response is from another issuer")
    options = {
        "iss": {"essential": True, "value": settings.OIDC_ISSUER},
        "aud": {"essential": True, "value": settings.OIDC_CLIENT_ID},
        "sub": {"essential": True},
        "nonce": {"essential": True},
    }
    try:
        token = _app().authorize_access_token(request, claims_options=options, leeway=_LEEWAY_S)
    except (requests.RequestException, OAuthError, JoseError, ValueError, TypeError, AttributeError, KeyError) as error:
        raise ProviderError(f"{type(error).__name__}: {error}") from error
    claims = token.get("userinfo")
    if not claims or not isinstance(claims.get("sub"), str) or not claims["sub"]:
        raise ProviderError("the provider gave no ID token")
    found: Mapping[str, Any] = claims
    return found


def _app() -> _App:
    return _App(
        DjangoIntegration("oidc"),
        client_id=settings.OIDC_CLIENT_ID,
        client_secret=settings.OIDC_CLIENT_SECRET,
        server_metadata_url=f"{settings.OIDC_ISSUER.rstrip('/')}/.well-known/openid-configuration",
        client_kwargs={"scope": "openid email", "code_challenge_method": "S256"},
    )
