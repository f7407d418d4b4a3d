"""Appends telemetry in bulk by COPY. The caller holds the run's lock and is in a transaction."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import IntegrityError, connection, transaction

from dressage.telemetry.models import Series
from dressage.telemetry.rollups import closed, outdate

MAX_SERIES = 4000
"""Maximum number of metric names in one run."""
FEW = 1000
"""Rows up to which one statement is quicker than a COPY, which needs a savepoint in case a row already exists."""


@dataclass
class Bulk:
    """Rows of one sync, in the order of the columns below."""

    events: list[tuple[str, int, int, str, int | None, datetime, str]] = field(default_factory=list)
    moments: list[tuple[str, int, int, datetime, float, int]] = field(default_factory=list)
    points: list[tuple[int, int, Mapping[str, float]]] = field(default_factory=list)
    """(step, attempt, values by metric name)."""
    rollouts: list[tuple[Any, ...]] = field(default_factory=list)
    outcomes: list[tuple[Any, ...]] = field(default_factory=list)


EVENTS = ("run_id", "seq", "attempt", "kind", "step", "at", "data")
MOMENTS = {
    "run_id": "text", "step": "int", "attempt": "smallint", "at": "timestamptz", "seconds": "float8",
    "tokens_total": "bigint",
}  # fmt: skip
POINTS = {"series_id": "bigint", "step": "int", "attempt": "smallint", "value": "float8"}
ROLLOUTS = (
    "run_id", "attempt", "step", "group_id", "sample", "prompt_id", "source", "prompt", "completion", "answer",
    "reward", "reward_parts", "reward_error", "advantage", "excluded", "finish_reason", "length", "thinking_tokens",
    "budget_hit", "control_revision", "policy_version_min", "policy_version_max",
    "reward_version", "shadow", "right", "worst_gap", "explanation", "turns",
)  # fmt: skip
OUTCOMES = (
    "run_id", "attempt", "step", "source", "row", "right", "graded", "reward", "ordinal", "fate", "reason",
)  # fmt: skip


def write(run_id: str, bulk: Bulk, last_step: int) -> None:
    """Append everything of one run. An existing point or moment is left unchanged.

    Args:
        run_id: the run.
        bulk: what to append.
        last_step: the last step that its attempt has completed.
    """
    if bulk.events:
        copy("telemetry_event", EVENTS, bulk.events)
    if bulk.points:
        ids = series_ids(run_id, {name for _, _, values in bulk.points for name in values})
        points = [
            (ids[name], step, attempt, value)
            for step, attempt, values in bulk.points
            for name, value in values.items()
            if name in ids
        ]
        add_new("telemetry_point", POINTS, points)
        _outdate_rollups(run_id, bulk, last_step)
    if bulk.moments:
        add_new("telemetry_moment", MOMENTS, bulk.moments)
    if bulk.rollouts:
        copy("telemetry_rollout", ROLLOUTS, bulk.rollouts)
    if bulk.outcomes:
        copy("telemetry_rowoutcome", OUTCOMES, bulk.outcomes)


def _outdate_rollups(run_id: str, bulk: Bulk, last_step: int) -> None:
    """Rebuild rollups that are older than one of these points. The newest steps have none, and are not checked."""
    first: dict[int, int] = {}
    for step, attempt, _ in bulk.points:
        first[attempt] = min(step, first.get(attempt, step))
    for attempt, step in first.items():
        if step < closed(last_step):
            outdate(run_id, attempt, step)


def series_ids(run_id: str, names: Collection[str]) -> dict[str, int]:
    """Number of each metric's series; creates new ones. Names beyond ``MAX_SERIES`` have none."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, id FROM telemetry_series WHERE run_id = %s", [run_id])
        known = dict(cursor.fetchall())
    fresh = sorted(set(names) - known.keys())[: max(0, MAX_SERIES - len(known))]
    if fresh:
        made = Series.objects.bulk_create([Series(run_id=run_id, name=name) for name in fresh])
        known |= {series.name: series.id for series in made}
    return known


def copy(table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """COPY rows into a table of this app."""
    names = ", ".join(f'"{column}"' for column in columns)  # some are SQL keywords
    statement = f"COPY {table} ({names}) FROM STDIN"
    with connection.wrap_database_errors, connection.cursor() as cursor, cursor.copy(statement) as sink:
        for row in rows:
            sink.write_row(row)


def add_new(table: str, columns: Mapping[str, str], rows: Sequence[Sequence[Any]]) -> None:
    """Add the rows that do not exist yet.

    Args:
        table: one of this app.
        columns: name and type of each.
        rows: values in the columns' order.
    """
    if len(rows) <= FEW:
        _insert_new(table, columns, rows)
        return
    try:
        with transaction.atomic():
            copy(table, tuple(columns), rows)
    except IntegrityError:  # a worker repeats a step
        _insert_new(table, columns, rows)


def _insert_new(table: str, columns: Mapping[str, str], rows: Sequence[Sequence[Any]]) -> None:
    lists = ", ".join(f"%s::{kind}[]" for kind in columns.values())
    statement = f"INSERT INTO {table} ({', '.join(columns)}) SELECT * FROM unnest({lists}) ON CONFLICT DO NOTHING"  # nosec B608
    with connection.cursor() as cursor:
        cursor.execute(statement, [list(values) for values in zip(*rows, strict=True)])


def encode(data: Any) -> str:
    """JSON as PostgreSQL accepts it. Infinities must already be strings."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False)
