"""Middleware around every request: its id, the context of its log lines, and the headers that protect browsers."""

import re
from typing import Any

import structlog
from django.conf import settings
from django.contrib.sessions.exceptions import SessionInterrupted
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.exceptions import DisallowedHost
from django.db import DatabaseError
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

from dressage.common.api.full_disk import full_disk
from dressage.common.api.problem_responses import page_not_found, problem_response
from dressage.common.api.problems import Problem
from dressage.common.ids import new_id

REFUSAL = "dressage.refusal"
"""ASGI scope key under which the gateway passes on the problem that a request should be answered with."""
_FILED = re.compile("/(api|assets|static)/")
"""Paths other than the console's pages, which query nothing and report by themselves what they cannot show."""
_SAFE_ID = re.compile(r"^[A-Za-z0-9_\-]{8,64}$")


def content_security_policy(host: str) -> str:
    """Policy for what a page may load: only files of the console, which Vite builds, and styles set by components."""
    return "; ".join(
        (
            "default-src 'self'",
            "script-src 'self'",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            # Some browsers do not count WebSockets of the same host as 'self'.
            f"connect-src 'self' ws://{host} wss://{host}",
            "worker-src 'self' blob:",
            "object-src 'none'",
            "base-uri 'none'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        )
    )


class RequestContextMiddleware(MiddlewareMixin):
    """First in the chain, so that its headers are on every response, refusals included."""

    def process_request(self, request: HttpRequest) -> HttpResponseBase | None:
        given = request.headers.get("X-Request-ID", "")
        request.request_id = given if _SAFE_ID.match(given) else new_id("req")  # type: ignore[attr-defined]
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(request_id=request.request_id)  # type: ignore[attr-defined]
        if refusal := getattr(request, "scope", {}).get(REFUSAL):
            return problem_response(refusal, request.path)
        if _FILED.match(request.path):
            # PostgreSQL cannot store NUL, so no id or name contains it, and a query with it would fail.
            if "\0" in request.path:
                return page_not_found(request, Http404())
            if "%00" in request.META.get("QUERY_STRING", ""):
                problem = Problem(400, "Bad request", "A query has no NUL character.", code="nul_in_query")
                return problem_response(problem, request.path)
        if any("\0" in value for value in request.COOKIES.values()):
            return problem_response(Problem(400, "Bad request", "A cookie has no NUL character."), request.path)
        return None

    def process_view(self, _request: HttpRequest, _view: Any, _args: Any, kwargs: dict[str, Any]) -> None:
        """Add the run in the address to every line of the log."""
        if "run_id" in kwargs:
            structlog.contextvars.bind_contextvars(run=kwargs["run_id"])

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        response["X-Request-ID"] = getattr(request, "request_id", "")
        response.setdefault("Content-Security-Policy", content_security_policy(_host(request)))
        response.setdefault("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
        if request.path.startswith("/api/"):
            response.setdefault("Cache-Control", "no-store")
        return response


class SessionsMiddleware(SessionMiddleware):
    """Django's, but answers 507 if PostgreSQL has no room for the session, which is written after the view."""

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        try:
            return super().process_response(request, response)
        except (DatabaseError, SessionInterrupted) as error:
            if (problem := full_disk(error)) is None:
                raise
            return problem_response(problem, request.path)


class HttpsApiMiddleware(MiddlewareMixin):
    """Refuses API requests without TLS. The next middleware, Django's, would redirect them.

    A program with http instead of https in its address would be redirected each time, and never learn that its token
    travels in the clear.
    """

    def process_request(self, request: HttpRequest) -> HttpResponseBase | None:
        wanted = settings.SECURE_SSL_REDIRECT and request.path.startswith("/api/")
        exempt = (re.search(pattern, request.path.lstrip("/")) for pattern in settings.SECURE_REDIRECT_EXEMPT)
        if not wanted or request.is_secure() or any(exempt):
            return None
        detail = "The API accepts only https. A token or password sent without TLS may have been read: replace it."
        return problem_response(Problem(403, "Use https", detail, code="https_only"), request.path)


def _host(request: HttpRequest) -> str:
    """The host of the request if it is one of ours; a refused one must not end up in the policy."""
    try:
        return request.get_host()
    except DisallowedHost:
        return "localhost"
