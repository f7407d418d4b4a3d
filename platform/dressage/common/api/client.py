"""Whether the client of a thread's current request is still connected."""

import threading
from contextvars import ContextVar

_gone: ContextVar[threading.Event | None] = ContextVar("client_gone", default=None)


def watch_client(gone: threading.Event) -> None:
    """Register ``gone`` for the current request's thread. The server sets it when the client has disconnected."""
    _gone.set(gone)


def client_is_gone() -> bool:
    """Whether the client has disconnected. Always false outside of requests."""
    gone = _gone.get()
    return gone is not None and gone.is_set()
