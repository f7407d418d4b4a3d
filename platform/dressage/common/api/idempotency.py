"""``Idempotency-Key`` on creating requests: a retry gets the first response, and nothing is created twice.

Key, effect and stored response commit in one transaction. A process killed in the middle leaves none of them, so the
retry simply runs; a process killed after the commit leaves all of them, so the retry replays.
"""

import functools
import hashlib
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.db import connection, transaction
from django.utils import timezone
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from dressage.common.api.problems import Problem, conflict
from dressage.common.models import StoredResponse
from dressage.common.sealing import UnsealError, seal, unseal

HEADER = "Idempotency-Key"
KEPT_FOR = timedelta(hours=24)
_SEALED = "sealed"
Handler = Callable[..., Response]


def idempotent(handler: Handler) -> Handler:
    """Decorates ``post`` of a view. Requests without the header are unaffected.

    Raises:
        Problem: 422 for a malformed key or one used with another body; 409 while the first request still runs.
    """
    return _decorated(handler, personal=False)


def idempotent_for_its_caller(handler: Handler) -> Handler:
    """Decorates like ``idempotent``, for responses that hold a secret or that not every role may see.

    The response is stored encrypted. It is replayed only to the original caller, and only while their role is the same.
    """
    return _decorated(handler, personal=True)


def _decorated(handler: Handler, *, personal: bool) -> Handler:
    @functools.wraps(handler)
    def wrapped(view: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
        key = request.headers.get(HEADER)
        if key is None:
            return handler(view, request, *args, **kwargs)
        if not (0 < len(key) <= 255 and key.isascii() and key.isprintable()):
            raise Problem(422, "Invalid request", f"{HEADER} must be 1 to 255 printable ASCII characters.")
        return _once(request, key, lambda: handler(view, request, *args, **kwargs), personal=personal)

    # Read by the schema.
    wrapped.accepts_idempotency_key = True  # type: ignore[attr-defined]
    return wrapped


def _once(request: Request, key: str, run: Callable[[], Response], *, personal: bool) -> Response:
    team, path, body = request.team, request.path, fingerprint(request)  # type: ignore[attr-defined]
    if personal:
        caller = f"{request.actor.kind}\0{request.actor.id}\0{request.role}"  # type: ignore[attr-defined]
        body = hashlib.sha256(f"{body}\0{caller}".encode()).hexdigest()
    with transaction.atomic():
        if not _try_lock(f"{team.id}\0{path}\0{key}"):
            raise conflict(
                "The first request with this Idempotency-Key is still running.", code="idempotency_in_flight"
            )
        StoredResponse.objects.filter(team=team, created_at__lt=timezone.now() - KEPT_FOR).delete()
        stored = StoredResponse.objects.filter(team=team, path=path, key=key).first()
        if stored is not None:
            if stored.fingerprint != body:
                raise Problem(
                    422,
                    "Invalid request",
                    "This Idempotency-Key was used with another body.",
                    code="idempotency_key_reused",
                )
            return Response(_opened(stored), status=stored.status, headers={"Idempotency-Replayed": "true"})
        response = run()
        text = JSONRenderer().render(response.data).decode()
        StoredResponse.objects.create(
            team=team,
            path=path,
            key=key,
            fingerprint=body,
            status=response.status_code,
            body={_SEALED: seal(text)} if personal else json.loads(text),
        )
        return response


def _opened(stored: StoredResponse) -> Any:
    if not isinstance(stored.body, dict) or stored.body.keys() != {_SEALED}:
        return stored.body
    try:
        return json.loads(unseal(stored.body[_SEALED]))
    except UnsealError as error:
        detail = "The first response can no longer be read: the installation's encryption key has changed since."
        raise conflict(detail, code="idempotency_unreadable") from error


def fingerprint(request: Request) -> str:
    """SHA-256 of what the client sent, independent of key order and of multipart boundaries."""
    digest = hashlib.sha256((request.method or "").encode())
    data = request.data
    if hasattr(data, "lists"):  # a form
        for name, values in sorted(data.lists()):
            for value in values:
                # Hashes, which are of one length, keep a value from running into the next field.
                digest.update(hashlib.sha256(name.encode()).digest() + _hash_of(value))
    else:
        digest.update(json.dumps(data, sort_keys=True, default=str).encode())
    return digest.hexdigest()


def _hash_of(value: object) -> bytes:
    digest = hashlib.sha256()
    if isinstance(value, UploadedFile):
        for chunk in value.chunks():
            digest.update(chunk)
        value.seek(0)
    else:
        digest.update(str(value).encode())
    return digest.digest()


def _try_lock(name: str) -> bool:
    """Try to take the transaction's advisory lock of that name, without waiting."""
    number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big", signed=True)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [number])
        return bool(cursor.fetchone()[0])
