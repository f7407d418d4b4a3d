"""Whether the client of the request that a thread works on is still there."""

import threading
from contextvars import ContextVar

_gone: ContextVar[threading.Event | None] = ContextVar("client_gone", default=None)


def watch_client(gone: threading.Event) -> None:
    """Have the present request's thread know of its client by ``gone``, which the server sets when it has left."""
    _gone.set(gone)


def client_is_gone() -> bool:
    """Whether nobody waits for the answer any more. Outside of requests somebody always does."""
    gone = _gone.get()
    return gone is not None and gone.is_set()
