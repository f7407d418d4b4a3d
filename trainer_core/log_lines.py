"""Lines of logs, the same for the platform and for the cluster: plain or as JSON, in UTC, without secrets."""

import json
import logging
import os
import re
import time
from collections.abc import Callable, Mapping
from typing import Any

FORMAT_VARIABLE = "DRESSAGE_LOG_FORMAT"
"""Environment variable with the format, for processes that do not read the platform's settings."""
PLAIN = "%(asctime)s %(levelname)s %(name)s: %(message)s"
"""The plain format, for ``logging.Formatter``."""
_SECRETS = (
    # Passwords in addresses, such as those of databases, queues and mail servers.
    (re.compile(r"(://[^\s:/@]*:)[^\s/@]+(@)"), r"\1***\2"),
    (re.compile(r"(?i)\b(bearer|basic)(\s+)[\w.~+/=-]{8,}"), r"\1\2***"),
    # Tokens of users, attempts and jobs.
    (re.compile(r"\b((?:drs|lnk|bnc|rhs)_)[\w-]{16,}"), r"\1***"),
    # Named values: `password=…`, `"client_secret": "…"`. The value may be quoted, and its quotes escaped.
    (
        re.compile(r"(?i)(\b\w*(?:password|passwd|secret|api_?key)\\?[\"']?\s*[=:]\s*\\?[\"']?)[^\s,;&\"'\\}]{4,}"),
        r"\1***",
    ),
)


def without_secrets(text: str) -> str:
    """The text with tokens masked, and passwords that are named as such or are part of an address.

    A safety net in addition to the rule that no line contains a secret: messages from libraries quote addresses.
    """
    for pattern, hidden in _SECRETS:
        text = pattern.sub(hidden, text)
    return text


class PlainFormatter(logging.Formatter):
    """Formatter whose times are in UTC and say so, like those of the audit log."""

    converter = staticmethod(time.gmtime)
    default_time_format = "%Y-%m-%dT%H:%M:%S"
    default_msec_format = "%s.%03dZ"

    def format(self, record: logging.LogRecord) -> str:
        """The line, followed by the traceback of an exception."""
        return without_secrets(super().format(record))


class JsonFormatter(PlainFormatter):
    """Formatter of one JSON object per line: ``at``, ``level``, ``logger``, ``message``, bound values, ``exception``.

    Args:
        context: returns the values bound when a line is written, such as the ids of the request and the run. A record's
            own ``fields`` take precedence.
    """

    def __init__(self, context: Callable[[], Mapping[str, Any]] = dict) -> None:
        super().__init__()
        self._context = context

    def format(self, record: logging.LogRecord) -> str:
        """The object on one line. Values that JSON does not support are written as Python prints them."""
        fields = {**self._context(), **getattr(record, "fields", {})}
        line = {
            "at": self.formatTime(record),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {f"{key}_" if key in line else key: value for key, value in fields.items()}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return without_secrets(json.dumps(line, default=str, ensure_ascii=False))


def format_from_environment() -> logging.Formatter:
    """The formatter that the environment selects. Raises ValueError for an unknown format."""
    wanted = os.environ.get(FORMAT_VARIABLE) or "plain"
    if wanted not in ("plain", "json"):
        raise ValueError(f"{FORMAT_VARIABLE} is plain or json, not {wanted!r}")
    return JsonFormatter() if wanted == "json" else PlainFormatter(PLAIN)
