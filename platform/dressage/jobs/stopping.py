"""Whether this process is being stopped. Its job is then returned at the next piece and continued elsewhere."""

import threading
from typing import Any

from celery.signals import worker_init, worker_shutting_down

_STOPPING = threading.Event()


def is_stopping() -> bool:
    """Whether Celery has asked this worker to shut down."""
    return _STOPPING.is_set()


@worker_shutting_down.connect(weak=False)
def _stop(**_: Any) -> None:
    _STOPPING.set()


@worker_init.connect(weak=False)
def _begin(**_: Any) -> None:
    _STOPPING.clear()
