"""OpenAPI: how clients sign in. Importing this registers both ways with drf-spectacular."""

from typing import Any

from django.conf import settings
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema


class TokenScheme(OpenApiAuthenticationExtension):
    """``Authorization: Bearer`` with a token of a team."""

    target_class = "dressage.teams.authentication.TokenAuthentication"
    name = "apiToken"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        return {"type": "http", "scheme": "bearer", "bearerFormat": "drs_…", "description": "API token of a team."}


class SessionScheme(OpenApiAuthenticationExtension):
    """The console's session cookie."""

    target_class = "dressage.teams.authentication.TeamSessionAuthentication"
    name = "session"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        return {
            "type": "apiKey",
            "in": "cookie",
            "name": settings.SESSION_COOKIE_NAME,
            "description": "Browser session; writes also send X-CSRFToken.",
        }
