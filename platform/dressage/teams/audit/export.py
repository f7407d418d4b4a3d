"""The audit log as a file, part by part. Each line has everything that its hash covers, to be checked offline."""

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
"""Entries that are read at a time."""
_FORMULA = tuple("=+-@\t\r'")
"""Characters that make a spreadsheet treat a cell as a formula."""
COLUMNS = (
    "number", "created_at", "actor_kind", "actor_id", "actor_name", "action", "target_type", "target_id", "before_json",
    "after_json", "reason", "id", "team_id", "previous_hash", "hash",
)  # fmt: skip


def lines(entries: QuerySet[AuditEntry]) -> Iterator[bytes]:
    """One JSON object per line."""
    for rows in _parts(entries):
        yield "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def table(entries: QuerySet[AuditEntry]) -> Iterator[bytes]:
    """CSV with a header. A cell that a spreadsheet would take for a formula is prefixed with an apostrophe."""
    yield _csv([COLUMNS])
    for rows in _parts(entries):
        yield _csv([[_cell(row[name]) for name in COLUMNS] for row in rows])


FORMATS: Mapping[str, Callable[[QuerySet[AuditEntry]], Iterator[bytes]]] = {"jsonl": lines, "csv": table}
CONTENT_TYPES = {"jsonl": "application/x-ndjson", "csv": "text/csv"}


def _parts(entries: QuerySet[AuditEntry]) -> Iterator[list[dict[str, Any]]]:
    """The entries in the order of the chain, some at a time. Entries that are appended during the export come last."""
    seen = 0
    while rows := list(entries.filter(number__gt=seen).order_by("number")[:_ROWS]):
        seen = rows[-1].number
        if not connection.in_atomic_block:
            connection.close()  # a slow reader must not occupy a connection
        yield [{**entry_facts(row), "hash": row.hash} for row in rows]


def _csv(rows: Sequence[Sequence[str]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerows(rows)
    return text.getvalue().encode()


def _cell(value: Any) -> str:
    text = str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text
