"""Pruning of trace files by the run's rule. The caller holds the run's lock and is in a transaction."""

from collections.abc import Iterable

from django.db import transaction
from django.db.models import Sum

from dressage.telemetry.lines import Line
from dressage.telemetry.models import Rollout, TraceFile
from dressage.telemetry.traces.storage import path_of, remove
from trainer_core.spec.operation.traces import Traces


def prune(run_id: str, rule: Traces, line: Line) -> None:
    """Delete what the rule does not retain: rows now, files after the transaction has committed.

    Other groups are deleted when their step is no longer among the newest, and immediately if a later attempt has
    repeated it. Over the budget, the oldest are deleted first: all other groups before any retained ones.
    """
    files = TraceFile.objects.filter(run_id=run_id)
    newest = files.filter(line.condition()).order_by("-step").values_list("step", flat=True).first()
    if newest is not None:
        _delete(files.filter(stays=False, step__lte=newest - rule.full_steps))
    if not line.is_single:
        _delete(files.filter(line.condition(superseded=True), stays=False))
    over = used_bytes(run_id) - rule.max_mib * 2**20
    if over > 0:
        going = []
        for file in files.order_by("stays", "step", "attempt", "number"):
            if over <= 0:
                break
            going.append(file)
            over -= file.bytes
        _delete(going)


def used_bytes(run_id: str) -> int:
    """Total size of a run's trace files."""
    total = TraceFile.objects.filter(run_id=run_id).aggregate(total=Sum("bytes"))["total"]
    return int(total or 0)


def _delete(files: Iterable[TraceFile]) -> None:
    going = list(files)
    if not going:
        return
    ids = [file.id for file in going]
    Rollout.objects.filter(trace__in=ids, indexed=True).delete()
    Rollout.objects.filter(trace__in=ids).update(trace=None, trace_row=None)
    TraceFile.objects.filter(pk__in=ids).delete()
    paths = [path_of(file) for file in going]
    transaction.on_commit(lambda: remove(paths))
