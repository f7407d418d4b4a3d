"""Requests to a platform: address, token, retries, and failures as ``DressageError``."""

import time
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, TypeVar

import httpx
from pydantic import ValidationError

from dressage_sdk.errors import DressageError, FieldError
from dressage_sdk.models import ApiModel
from dressage_sdk.version import VERSION
from trainer_core.link.retry import pause_s, retry_after

API = "/api/v1"
BUSY = frozenset({429, 502, 503, 504})
"""Statuses of a platform, or of a proxy in front of it, that may well answer the next time."""
IN_FLIGHT = "idempotency_in_flight"
"""Code of a repeated request whose first attempt the platform is still working on."""
LONGEST_WAIT_S = 60.0
"""A platform that asks for more patience is reported instead."""
M = TypeVar("M", bound=ApiModel)


class Connection:
    """HTTP to one platform in the name of one token. Threads may share it."""

    def __init__(
        self, url: str, token: str, *, timeout: float, retries: int, sleep: Callable[[float], object] = time.sleep
    ) -> None:
        """
        Args:
            url: address of the platform, with or without ``/api/v1``.
            token: secret of an API token.
            timeout: seconds to wait for a connection, and for each part of an answer.
            retries: attempts after the first.
            sleep: waits for so many seconds.

        Raises:
            DressageError: the address or the token cannot be used. The message does not show the token.
        """
        self.url = _address(url)
        self._http = httpx.Client(
            base_url=f"{self.url}{API}",
            headers={
                "Authorization": f"Bearer {_secret(token)}",
                "Accept": "application/json",
                "User-Agent": f"dressage-sdk/{VERSION}",
            },
            timeout=timeout,
        )
        self._retries = retries
        self._sleep = sleep

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def get(self, model: type[M], path: str, params: Mapping[str, Any] | None = None) -> M:
        """The answer to a GET.

        Raises:
            DressageError: the platform refused, did not answer after all retries, or answered something else.
        """
        return self._read(model, "GET", path, params=params)

    def post(self, model: type[M], path: str, body: Mapping[str, Any], *, idempotency_key: str) -> M:
        """The answer to a POST. The key makes it safe to repeat: the platform acts once. Raises as ``get``."""
        return self._read(model, "POST", path, json=body, headers={"Idempotency-Key": idempotency_key})

    def _read(self, model: type[M], method: str, path: str, **options: Any) -> M:
        response = self._answer(method, path, **options)
        if not response.is_success:
            raise _refusal(response)
        try:
            return model.model_validate_json(response.content)
        except ValidationError as error:
            raise _stranger(response) from error

    def _answer(self, method: str, path: str, **options: Any) -> httpx.Response:
        """The first answer that is worth reading, or the last one after all retries."""
        attempt = 0
        while True:
            attempt += 1
            last = attempt > self._retries
            try:
                response = self._http.request(method, path, **options)
            except httpx.RequestError as error:
                if last:
                    raise _unreachable(self.url, error) from error
                self._sleep(pause_s(attempt))
                continue
            after_s = retry_after(response.headers.get("Retry-After"))
            if last or not _is_transient(response) or (after_s or 0.0) > LONGEST_WAIT_S:
                return response
            self._sleep(pause_s(attempt, after_s))


def _address(url: str) -> str:
    """The platform's address without ``/api/v1`` and slashes at its end. Raises DressageError."""
    try:
        parsed = httpx.URL(url.strip())
    except httpx.InvalidURL as error:
        raise DressageError("Invalid address", f"The platform's address cannot be read: {error}.") from error
    if parsed.userinfo:
        raise DressageError("Invalid address", "The platform's address must not contain a name or a password.")
    if parsed.scheme not in ("http", "https") or not parsed.host:
        detail = f"{url!r} is no address of a platform: it must be like https://dressage.example.com."
        raise DressageError("Invalid address", detail)
    if parsed.query or parsed.fragment:
        raise DressageError("Invalid address", "The platform's address must not contain a query or a fragment.")
    return str(parsed).rstrip("/").removesuffix(API)


def _secret(token: str) -> str:
    """The token, if it can be sent in a header: the HTTP library would show one that cannot. Raises DressageError."""
    token = token.strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise DressageError("Invalid token", "The API token is empty, or has characters that no token has.")
    return token


def _is_transient(response: httpx.Response) -> bool:
    return response.status_code in BUSY or (response.status_code == 409 and _refusal(response).code == IN_FLIGHT)


def _unreachable(url: str, error: httpx.RequestError) -> DressageError:
    slow = isinstance(error, httpx.TimeoutException)
    reason = "it did not answer in time" if slow else str(error) or type(error).__name__
    detail = f"{url} cannot be reached: {reason}. Check the address, and that the platform is running."
    return DressageError("No answer", detail)


def _refusal(response: httpx.Response) -> DressageError:
    """The problem document of a refused request as an exception."""
    if response.is_redirect:
        detail = f"The platform redirects to {response.headers.get('Location', 'nowhere')}: use that address."
        return DressageError("Redirected", detail, status=response.status_code)
    try:
        problem = response.json()
        faults = [FieldError(str(fault["pointer"]), str(fault["detail"])) for fault in problem.get("errors", ())]
        return DressageError(
            str(problem["title"]),
            str(problem.get("detail", "")),
            status=response.status_code,
            code=str(problem.get("type", "")).rpartition(":")[2],
            errors=faults,
            request_id=response.headers.get("X-Request-ID"),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return _stranger(response)


def _stranger(response: httpx.Response) -> DressageError:
    """An answer that this version cannot read: from a proxy, another service, or a platform of another release."""
    status = response.status_code
    kind = response.headers.get("Content-Type", "of no type").partition(";")[0]
    detail = (
        f"The answer ({kind}) of {response.url.copy_with(query=None)} is not as expected. Check that the address leads "
        f"to a Dressage platform, and that dressage-sdk {VERSION} is of its release."
    )
    title = "Unexpected answer" if response.is_success else _phrase(status)
    return DressageError(title, detail, status=status, request_id=response.headers.get("X-Request-ID"))


def _phrase(status: int) -> str:
    return HTTPStatus(status).phrase if status in HTTPStatus.__members__.values() else "Unknown status"
