"""Index of trace files: the location of each sample's tokens. The caller holds the run's lock, in a transaction."""

from collections.abc import Iterable

from django.db import connection

from dressage.telemetry.models import Rollout, TraceFile
from dressage.telemetry.rollout_rows import rollout_row
from dressage.telemetry.store import ROLLOUTS, copy
from dressage.telemetry.traces.upload import Upload
from trainer_core.link.events import RolloutRow


def add(run_id: str, upload: Upload, *, sha256: str, size: int, scored_by: str) -> TraceFile:
    """Index a file. Samples that an event has already reported keep their texts and get their tokens.

    Args:
        run_id: the run.
        upload: content of the file.
        sha256: hash of its bytes.
        size: number of its bytes.
        scored_by: reward version of rows that name none.
    """
    header = upload.header
    file = TraceFile.objects.create(
        run_id=run_id,
        attempt=header.attempt,
        step=header.step,
        number=header.number,
        stays=header.stays,
        sha256=sha256,
        bytes=size,
        samples=len(upload.rows),
        tokens=upload.tokens,
        groups=header.groups,
    )
    known = _known(run_id, header.attempt, header.step, indexed=False)
    places = [
        (known[row.group_id, row.sample], place)
        for place, row in enumerate(upload.rows)
        if (row.group_id, row.sample) in known
    ]
    if places:
        _point(file.id, places)
    copy(
        "telemetry_rollout",
        (*ROLLOUTS, "trace_id", "trace_row", "indexed"),
        (
            (*rollout_row(run_id, header.attempt, header.step, row, scored_by), file.id, place, True)
            for place, row in enumerate(upload.rows)
            if (row.group_id, row.sample) not in known
        ),
    )
    return file


def take_texts(run_id: str, attempt: int, step: int, rows: Iterable[RolloutRow]) -> list[RolloutRow]:
    """Add the texts of an event's rows to samples that a trace file has already reported; returns the other rows."""
    known = _known(run_id, attempt, step, indexed=True)
    left = []
    for row in rows:
        number = known.get((row.group_id, row.sample))
        if number is None:
            left.append(row)
            continue
        Rollout.objects.filter(pk=number).update(prompt=row.prompt, completion=row.completion, indexed=False)
    return left


def _known(run_id: str, attempt: int, step: int, *, indexed: bool) -> dict[tuple[str, int], int]:
    found = Rollout.objects.filter(run_id=run_id, attempt=attempt, step=step, indexed=indexed)
    return {(group, sample): number for group, sample, number in found.values_list("group_id", "sample", "id")}


def _point(file_id: int, places: list[tuple[int, int]]) -> None:
    statement = """
        UPDATE telemetry_rollout SET trace_id = %s, trace_row = place.row
        FROM unnest(%s::bigint[], %s::int[]) AS place (id, row) WHERE telemetry_rollout.id = place.id
    """
    numbers, rows = zip(*places, strict=True)
    with connection.cursor() as cursor:
        cursor.execute(statement, [file_id, list(numbers), list(rows)])
