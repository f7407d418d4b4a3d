"""The audit log as a file, part by part. Each line has all that its hash is over, to be checked offline."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from django.db import connection
from django.db.models import QuerySet

from dressage.teams.audit.chain import entry_facts
from dressage.teams.models import AuditEntry

_ROWS = 500
"""Entries that are read at once."""
_FORMULA = tuple("=+-@\t\r'")
"""Signs with which a cell begins that a spreadsheet would calculate, and the sign that keeps it from that."""
COLUMNS = (
    "number", "created_at", "actor_kind", "actor_id", "actor_name", "action", "target_type", "target_id", "before_json",
    "after_json", "reason", "id", "team_id", "previous_hash", "hash",
)  # fmt: skip


def lines(entries: QuerySet[AuditEntry]) -> Iterator[bytes]:
    """One JSON object per line."""
    for rows in _parts(entries):
        yield "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def table(entries: QuerySet[AuditEntry]) -> Iterator[bytes]:
    """CSV with a header, in which a cell that a spreadsheet would take for a formula has an apostrophe before it."""
    yield _csv([COLUMNS])
    for rows in _parts(entries):
        yield _csv([[_cell(row[name]) for name in COLUMNS] for row in rows])


FORMATS: Mapping[str, Callable[[QuerySet[AuditEntry]], Iterator[bytes]]] = {"jsonl": lines, "csv": table}
CONTENT_TYPES = {"jsonl": "application/x-ndjson", "csv": "text/csv"}


def _parts(entries: QuerySet[AuditEntry]) -> Iterator[list[dict[str, Any]]]:
    """The entries in the order of the chain, some at a time; what is appended meanwhile comes last."""
    seen = 0
    while rows := list(entries.filter(number__gt=seen).order_by("number")[:_ROWS]):
        seen = rows[-1].number
        if not connection.in_atomic_block:
            connection.close()  # a reader who is slow must not keep one from everybody else
        yield [{**entry_facts(row), "hash": row.hash} for row in rows]


def _csv(rows: Sequence[Sequence[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows(rows)
    return text.getvalue().encode()


def _cell(value: Any) -> str:
    text = str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text
