"""Account of a run's kept rollouts, and of the rule that keeps them."""

from django.db.models import Count, Max, Min, Q, Sum
from typing_extensions import TypedDict

from dressage.telemetry.models import TraceFile
from trainer_core.spec.operation.traces import Traces


class KeptDocument(TypedDict):
    """What is kept of a run's rollouts with their tokens, and by which rule."""

    full_steps: int
    """Newest steps of which every group is kept."""
    groups_per_step: int
    """Groups that stay of each earlier step."""
    max_bytes: int
    """Most bytes."""
    bytes: int
    files: int
    samples: int
    tokens: int
    first_step: int | None
    """Oldest step of which something is kept."""
    first_full_step: int | None
    """Oldest step of which other groups are kept than those that stay."""
    last_step: int | None


def kept(run_id: str, rule: Traces) -> KeptDocument:
    """The rule of a run, and what it keeps now."""
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
