"""Requests that are refused before a view sees them: one short line each, and few a minute."""

import http.client
import io
import json
import logging
import re
from collections.abc import Iterator

import pytest
import structlog

from dressage.common.logs import (
    REFUSALS,
    REFUSALS_OF_NOBODY,
    REFUSALS_PER_MINUTE,
    BriefRefusals,
    _as_record,
    json_formatter,
)
from tests.platform.gateway.served import served


@pytest.fixture
def log() -> tuple[logging.Logger, io.StringIO, list[float]]:
    """A logger of refusals, what it writes, and the time that it goes by."""
    now = [0.0]
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.addFilter(BriefRefusals(lambda: now[0]))
    logger = logging.Logger("django.security.DisallowedHost")
    logger.addHandler(handler)
    return logger, written, now


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """What the platform's own handler writes."""
    handlers = [handler for handler in logging.getLogger().handlers if isinstance(handler, logging.StreamHandler)]
    ours = next(handler for handler in handlers if any(isinstance(found, BriefRefusals) for found in handler.filters))
    stream = io.StringIO()
    former = ours.setStream(stream)
    yield stream
    ours.setStream(former)


@pytest.mark.django_db(transaction=True)
def test_a_foreign_host_is_one_line(written: io.StringIO) -> None:
    with served() as port:
        for path, host in (("/api/v1/session", "evil.example"), ("/runs", "a b"), ("/api/v1/runs", "x" * 9000)):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            connection.putrequest("GET", path, skip_host=True)
            connection.putheader("Host", host)
            connection.endheaders()
            assert connection.getresponse().status == 400
            connection.close()
    told = written.getvalue().splitlines()
    assert len(told) == 3, told
    begin = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z ERROR django.security.DisallowedHost: Invalid HTTP_HOST"
    assert all(re.match(begin, line) for line in told), told
    assert max(map(len, told)) < 400


def test_neither_tracebacks_nor_line_breaks(log: tuple[logging.Logger, io.StringIO, list[float]]) -> None:
    logger, written, _ = log
    try:
        raise ValueError("inside")
    except ValueError:
        logger.exception("bad host %s", "a\nINFO forged 100%s \x1b[2J")
    assert written.getvalue() == "bad host a\\nINFO forged 100%s \\x1b[2J\n"


def test_a_flood_is_counted(log: tuple[logging.Logger, io.StringIO, list[float]]) -> None:
    logger, written, now = log
    for number in range(1000):
        logger.error("bad host %d", number)
    assert written.getvalue().splitlines() == [f"bad host {number}" for number in range(REFUSALS_PER_MINUTE)]
    now[0] = 61.0
    logger.error("bad host")
    assert written.getvalue().splitlines()[-1] == f"bad host ({1000 - REFUSALS_PER_MINUTE} more before it)"


def test_a_flood_of_strangers_hides_nobody_who_is_known(log: tuple[logging.Logger, io.StringIO, list[float]]) -> None:
    _, written, _ = log
    handler = log[0].handlers[0]
    strangers, known = logging.Logger(REFUSALS_OF_NOBODY), logging.Logger(REFUSALS)
    for logger in (strangers, known):
        logger.addHandler(handler)
    for number in range(100):
        strangers.warning("refused %d", number)
    known.warning("refused to a member")
    lines = written.getvalue().splitlines()
    assert (len(lines), lines[-1]) == (REFUSALS_PER_MINUTE + 1, "refused to a member")


def test_our_own_faults_keep_their_tracebacks() -> None:
    for name, level in (("django.request", logging.ERROR), ("uvicorn.error", logging.ERROR), ("dressage", 10)):
        record = logging.LogRecord(name, level, "", 1, "fault\nin two lines", (), None)
        record.exc_text = "Traceback"
        assert BriefRefusals().filter(record)
        assert (record.getMessage(), record.exc_text) == ("fault\nin two lines", "Traceback")


def test_fields_of_a_refusal_are_cut_as_well(log: tuple[logging.Logger, io.StringIO, list[float]]) -> None:
    logger, written, _ = log
    logger.handlers[0].setFormatter(json_formatter())
    events = structlog.wrap_logger(logger, processors=[structlog.contextvars.merge_contextvars, _as_record])
    with structlog.contextvars.bound_contextvars(request_id="req_12345678", run="run_1"):
        events.warning("refused", path="/" + "x" * 9000)
        logger.warning("of a library")
    first, second = (json.loads(line) for line in written.getvalue().splitlines())
    assert (first["message"], first["run"], first["request_id"]) == ("refused", "run_1", "req_12345678")
    assert len(first["path"]) == 300
    assert (second["message"], second["run"], second["request_id"]) == ("of a library", "run_1", "req_12345678")
