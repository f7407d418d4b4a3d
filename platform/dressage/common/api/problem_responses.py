"""Errors as RFC 9457 problem documents, with OpenAI's ``error`` member added so that its clients understand them.

Separate from ``problems``, which services import: REST framework reads its settings when its views are imported.
"""

import sys
from http import HTTPStatus
from typing import Any

import structlog
from django.conf import settings
from django.core.exceptions import PermissionDenied, RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from pydantic import ValidationError as PydanticError
from redis.exceptions import ConnectionError as RedisConnectionError
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import set_rollback

from dressage.common.api.errors import FieldError, flatten
from dressage.common.api.full_disk import full_disk
from dressage.common.api.problems import Problem, ProblemDocument, not_found, unprocessable
from dressage.common.logs import REFUSALS, REFUSALS_OF_NOBODY
from trainer_core.spec.faults import join, pydantic_errors

logger = structlog.get_logger(__name__)
refusals, refusals_of_nobody = structlog.get_logger(REFUSALS), structlog.get_logger(REFUSALS_OF_NOBODY)
CONTENT_TYPE = "application/problem+json"


def document(problem: Problem, instance: str) -> dict[str, Any]:
    """The body of the response."""
    first = problem.errors[0]["pointer"] if problem.errors else None
    body: ProblemDocument = {
        "type": f"urn:dressage:problem:{problem.code}",
        "title": problem.title,
        "status": problem.status,
        "detail": problem.detail,
        "instance": instance,
        "errors": problem.errors,
        "error": {
            "message": problem.detail,
            "type": "server_error" if problem.status >= 500 else "invalid_request_error",
            "param": first.lstrip("/").replace("/", ".") or None if first else None,
            "code": problem.code,
        },
    }
    return {**body, **problem.extra}


def as_problem(error: Exception) -> Problem | None:
    """The problem that the client gets for an exception; None if the fault is ours."""
    if not isinstance(error, Problem) and (full := full_disk(error)) is not None:
        return full
    match error:
        case Problem():
            return error
        case PydanticError():
            return unprocessable(
                [FieldError(pointer=join(*path), detail=text) for path, text in pydantic_errors(error)]
            )
        case exceptions.ValidationError():
            return unprocessable(list(flatten(error.detail)))
        case exceptions.Throttled():
            wait = max(1, round(getattr(error, "wait", None) or 1))
            return Problem(
                429,
                "Too many requests",
                f"Try again in {wait} s.",
                code="throttled",
                headers={"Retry-After": str(wait)},
            )
        case exceptions.NotAuthenticated() | exceptions.AuthenticationFailed():
            # `auth_header` is set by REST framework's view just before it calls the handler.
            challenge = getattr(error, "auth_header", None) or 'Bearer realm="api"'
            return Problem(
                401, "Not signed in", str(error.detail), code=_code(error), headers={"WWW-Authenticate": challenge}
            )
        case exceptions.MethodNotAllowed() | exceptions.UnsupportedMediaType():
            title = HTTPStatus(error.status_code).phrase.capitalize()  # REST framework's own has a placeholder
            return Problem(error.status_code, title, str(error.detail), code=_code(error))
        case exceptions.APIException():
            return Problem(
                error.status_code, str(error.default_detail).rstrip("."), str(error.detail), code=_code(error)
            )
        case Http404():
            return not_found()
        case PermissionDenied():
            return Problem(403, "Not allowed", str(error) or "Not allowed.", code="permission_denied")
        case RequestDataTooBig():
            most = f"{settings.DATA_UPLOAD_MAX_MEMORY_SIZE >> 20} MiB"
            return Problem(413, "Request too large", f"This body may have at most {most}.", code="too_large")
        case TooManyFilesSent() | TooManyFieldsSent():
            return Problem(413, "Request too large", str(error), code="too_large")
        case OperationalError() | RedisConnectionError():
            return Problem(
                503, "Temporarily unavailable", "A part of the platform is unavailable. Try again.", code="unavailable"
            )
    return None


def exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """REST framework's hook. Unknown exceptions are left to Django, which logs them and answers ``server_error``."""
    problem = as_problem(error)
    if problem is None:
        return None
    if problem.status >= 500 and problem.code != "disk_full":  # a full disk has its own line
        logger.error("unavailable", exc_info=error)
    elif problem.status in (403, 429):
        _tell_refusal(context["request"], problem)
    set_rollback()
    body = document(problem, context["request"].path)
    return Response(body, status=problem.status, headers=problem.headers, content_type=CONTENT_TYPE)


def problem_response(problem: Problem, path: str) -> HttpResponse:
    """A problem outside of REST framework's views, and maybe outside of the middleware that sets Content-Length."""
    response = JsonResponse(
        document(problem, path), status=problem.status, headers=problem.headers, content_type=CONTENT_TYPE
    )
    response["Content-Length"] = str(len(response.content))
    return response


def server_error(request: HttpRequest) -> HttpResponseBase:
    """Django's handler500."""
    error = sys.exc_info()[1]  # Django calls this while it handles the exception
    if error is not None and (full := full_disk(error)) is not None:
        return problem_response(full, request.path)
    request_id = getattr(request, "request_id", "")
    problem = Problem(500, "Internal error", f"This is a fault of the platform. Find it in its log as {request_id}.")
    return problem_response(problem, request.path)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """Django's handler404."""
    return problem_response(Problem(404, "Not found", "No such address.", code="not_found"), request.path)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponseBase:
    """Django's handler400: refused hosts, broken encodings, oversized bodies."""
    problem = as_problem(exception) or Problem(400, "Bad request", "The request could not be understood.")
    return problem_response(problem, request.path)


def _tell_refusal(request: Request, problem: Problem) -> None:
    """Log what was refused. The caller, if known, is bound to the log line.

    Logs the route and its ids, not the address: the address of an invitation contains its token.
    """
    log = refusals if hasattr(request._request, "actor") else refusals_of_nobody
    match = getattr(request._request, "resolver_match", None)
    ids = {name: value for name, value in match.kwargs.items() if name.endswith("_id")} if match else {}
    log.warning("refused", method=request.method, route=match and match.route, code=problem.code, **ids)


def _code(error: exceptions.APIException) -> str:
    codes = error.get_codes()
    return codes if isinstance(codes, str) else ""
