"""Structured logs: every line carries the context of the request or task (request id, team, run)."""

import logging
import time
from collections import Counter, deque
from collections.abc import Callable
from typing import Any

import structlog

from trainer_core.log_lines import JsonFormatter

REFUSALS_PER_MINUTE = 20
REFUSALS = "dressage.refusals"
"""Name of the logger for requests that the API refused to a known caller."""
REFUSALS_OF_NOBODY = f"{REFUSALS}.nobody"
"""Name of the logger for requests that it refused to anyone else. Separate, since strangers can send any number."""
_REFUSERS = ("django.security.", "uvicorn.error", REFUSALS)
_LONGEST = 300


class BriefRefusals(logging.Filter):
    """Filter that logs one short line per refused request, and only a few per minute and logger.

    Anyone can send such requests, as many as they like: neither tracebacks nor their number may fill the disk.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._told: dict[str, deque[float]] = {}
        self._untold: Counter[str] = Counter()

    def filter(self, record: logging.LogRecord) -> bool:
        """Shorten the record, and say how many were left out before it. Returns False to leave it out."""
        fault = record.name == "uvicorn.error" and record.levelno >= logging.ERROR
        if fault or not record.name.startswith(_REFUSERS):
            return True
        now, told = self._clock(), self._told.setdefault(record.name, deque(maxlen=REFUSALS_PER_MINUTE))
        if len(told) == told.maxlen and now - told[0] < 60:
            self._untold[record.name] += 1
            return False
        told.append(now)
        untold = self._untold.pop(record.name, 0)
        left_out = f" ({untold} more before it)" if untold else ""
        text = record.getMessage().encode("unicode_escape").decode("ascii")
        record.msg, record.args = f"{text[:_LONGEST]}{left_out}", None
        record.exc_info = record.exc_text = record.stack_info = None
        if fields := getattr(record, "fields", None):
            record.fields = {key: str(value)[:_LONGEST] for key, value in fields.items()}
        return True


def json_formatter() -> JsonFormatter:
    """The formatter of JSON lines, which include the context of the request or task."""
    return JsonFormatter(structlog.contextvars.get_contextvars)


def configure(as_json: bool = False) -> None:
    """Send structlog through the standard library, so that one LOGGING setting governs all lines."""
    rendering: list[Any] = [
        structlog.processors.format_exc_info,
        structlog.processors.KeyValueRenderer(key_order=["event"]),
    ]
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.stdlib.add_logger_name,
            *([_as_record] if as_json else rendering),
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )


def _as_record(_logger: Any, _method: str, event: structlog.typing.EventDict) -> Any:
    """Arguments for the standard library's logger: the event as its message, the rest as fields of the record."""
    event.pop("logger", None)
    message, exception = event.pop("event", ""), event.pop("exc_info", None)
    return ("%s", message), {"exc_info": exception, "extra": {"fields": dict(event)}}
