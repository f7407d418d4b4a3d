"""Summary of a run's stored rollouts, and of their retention rule."""

from django.db.models import Count, Max, Min, Q, Sum
from typing_extensions import TypedDict

from dressage.telemetry.models import TraceFile
from trainer_core.spec.operation.traces import Traces


class KeptDocument(TypedDict):
    """The stored rollouts of a run with their tokens, and the rule that retains them."""

    full_steps: int
    """Number of newest steps whose groups are all stored."""
    groups_per_step: int
    """Groups that are retained of each earlier step."""
    max_bytes: int
    """Maximum size in bytes."""
    bytes: int
    files: int
    samples: int
    tokens: int
    first_step: int | None
    """Oldest step with stored groups."""
    first_full_step: int | None
    """Oldest step with stored groups besides the retained ones."""
    last_step: int | None


def kept(run_id: str, rule: Traces) -> KeptDocument:
    """The rule of a run, and what is stored under it now."""
    found = TraceFile.objects.filter(run_id=run_id).aggregate(
        size=Sum("bytes"),
        files=Count("id"),
        all_samples=Sum("samples"),
        all_tokens=Sum("tokens"),
        first=Min("step"),
        full=Min("step", filter=Q(stays=False)),
        last=Max("step"),
    )
    return {
        "full_steps": rule.full_steps,
        "groups_per_step": rule.groups_per_step,
        "max_bytes": rule.max_mib * 2**20,
        "bytes": found["size"] or 0,
        "files": found["files"],
        "samples": found["all_samples"] or 0,
        "tokens": found["all_tokens"] or 0,
        "first_step": found["first"],
        "first_full_step": found["full"],
        "last_step": found["last"],
    }
