"""Lines of the logs: one JSON object each where that is asked for, and no secret in either form."""

import json
import logging
import sys
from typing import Any

import pytest

from trainer_core.log_lines import FORMAT_VARIABLE, PLAIN, JsonFormatter, PlainFormatter, format_from_environment

TOKEN = "drs_" + "a1B2-c3D4_" * 4


def record(message: str, *args: Any, **more: Any) -> logging.LogRecord:
    made = logging.LogRecord("dressage.web", logging.WARNING, __file__, 1, message, args, more.pop("exc_info", None))
    made.created, made.msecs = 1_790_000_000.25, 250.0
    made.__dict__.update(more)
    return made


def test_a_line_is_one_object_with_what_is_bound() -> None:
    bound = {"request_id": "req_1", "run": "run_1"}
    line = JsonFormatter(lambda: bound).format(record("lost %s\nfor good", "it", fields={"run": "run_2", "level": 3}))
    assert "\n" not in line
    assert json.loads(line) == {
        "at": "2026-09-21T14:13:20.250Z",
        "level": "WARNING",
        "logger": "dressage.web",
        "message": "lost it\nfor good",
        "request_id": "req_1",
        "run": "run_2",
        "level_": 3,
    }


def test_an_exception_is_a_text_of_the_same_line() -> None:
    try:
        raise ValueError("inside")
    except ValueError:
        line = JsonFormatter().format(record("failed", exc_info=sys.exc_info()))
    assert "\n" not in line and json.loads(line)["exception"].endswith("ValueError: inside")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("at postgresql://web:hunter22@db:5432/x", "at postgresql://web:***@db:5432/x"),
        ("redis://:hunter22@cache", "redis://:***@cache"),
        ("Authorization: Bearer abcdefgh12345678", "Authorization: Bearer ***"),
        (f"token {TOKEN} is old", "token drs_*** is old"),
        ("password=hunter22 host=db", "password=*** host=db"),
        ("{'client_secret': 'hunter22'}", "{'client_secret': '***'}"),
        ("https://example.com:8443/a@b and step 3: done", "https://example.com:8443/a@b and step 3: done"),
        ("the password is temporary", "the password is temporary"),
    ],
)
def test_secrets_are_unreadable_in_both_forms(text: str, told: str) -> None:
    assert PlainFormatter("%(message)s").format(record("%s", text)) == told
    line = JsonFormatter().format(record("%s", text, fields={"error": text, "quoted": json.dumps({"a": text})}))
    read = json.loads(line)
    assert (read["message"], read["error"], json.loads(read["quoted"])) == (told, told, {"a": told})


def test_a_worker_takes_the_format_of_its_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FORMAT_VARIABLE, raising=False)
    assert format_from_environment()._fmt == PLAIN
    monkeypatch.setenv(FORMAT_VARIABLE, "json")
    assert isinstance(format_from_environment(), JsonFormatter)
    monkeypatch.setenv(FORMAT_VARIABLE, "xml")
    with pytest.raises(ValueError, match="plain or json, not 'xml'"):
        format_from_environment()
