"""Signing in with the installation's OpenID Connect provider."""

from typing import Any
from urllib.parse import urlencode

import structlog
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.http import require_GET
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.response import Response

from dressage.common.api.permissions import AllowAny
from dressage.common.api.problems import Problem, conflict
from dressage.teams.api import ApiView, TeamRequest
from dressage.teams.authentication import enforce_csrf
from dressage.teams.guesses.devices import remember_device
from dressage.teams.guesses.limits import count_challenge
from dressage.teams.oidc import provider
from dressage.teams.oidc.services import NotAdmittedError, account_of
from dressage.teams.sessions.life import begin_session, place
from dressage.teams.two_factor.second_step import begin_second_step, end_second_step
from dressage.teams.two_factor.selectors import has_second_factor

logger = structlog.get_logger(__name__)
CALLBACK = "/api/v1/session/oidc/callback"


class ProviderAddressSerializer(serializers.Serializer):
    """The address of the provider's page."""

    url = serializers.CharField(help_text="Where the browser goes next.")


class OidcView(ApiView):
    """Signing in with the provider."""

    takes_unenrolled = takes_temporary_passwords = True
    roles = {"POST": AllowAny}
    without_body = frozenset({"POST"})
    problem_statuses = {"POST": (401, 403, 409, 429, 502)}

    @extend_schema(operation_id="beginOidc", tags=["session"], request=None, responses=ProviderAddressSerializer)
    def post(self, request: TeamRequest) -> Response:
        """Start a sign-in with the installation's OpenID Connect provider. Send the browser to the returned URL."""
        enforce_csrf(request)
        if not settings.OIDC_ISSUER:
            raise conflict("This installation has no OpenID Connect provider.", code="no_provider")
        count_challenge(request._request)
        try:
            url = provider.begin(request._request, settings.PUBLIC_URL + CALLBACK)
        except provider.ProviderError as error:
            logger.error("oidc_provider", reason=str(error))
            detail = "The provider cannot be reached now. Sign in another way, or tell the operator."
            raise Problem(502, "Provider unavailable", detail, code="provider_away") from error
        return Response(ProviderAddressSerializer({"url": url}).data)


@require_GET
def callback(request: HttpRequest) -> HttpResponse:
    """Receive the browser from the provider. Redirects only to pages of the console, whatever the provider says."""
    if not settings.OIDC_ISSUER:
        return _back("no_provider")
    try:
        user = account_of(request, provider.finish(request))
    except provider.ProviderError as error:
        logger.warning("oidc_refused", reason=str(error), **place(request))
        return _back("provider_refused")
    except NotAdmittedError as error:
        logger.warning("oidc_refused", reason=error.code, **place(request))
        return _back(error.code)
    if has_second_factor(user):
        begin_second_step(request, user)
        return HttpResponseRedirect("/sign-in")
    end_second_step(request)
    begin_session(request, user)
    logger.info("signed_in", user=user.pk, by="oidc", **place(request))
    response: Any = HttpResponseRedirect("/runs")
    remember_device(request, response, user)
    return response


def _back(problem: str) -> HttpResponse:
    return HttpResponseRedirect("/sign-in?" + urlencode({"problem": problem}))
