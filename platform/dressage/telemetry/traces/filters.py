"""Filters of stored rollouts, by name: the same for groups, for exports and for scoring again."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Q, QuerySet

from dressage.telemetry.models import Rollout
from dressage.telemetry.traces.groups import Wanted

_GROUP_COLUMNS = {
    "step": "step",
    "first_step": "step__gte",
    "last_step": "step__lte",
    "source": "source",
    "prompt_id": "prompt_id",
    "group_id": "group_id",
}
_SAMPLE_COLUMNS = {
    "min_reward": "reward__gte",
    "max_reward": "reward__lte",
    "finish_reason": "finish_reason",
    "min_gap": "worst_gap__gte",
}


def filtered(found: QuerySet[Rollout], by: Mapping[str, Any]) -> tuple[QuerySet[Rollout], Wanted]:
    """Rollouts after the filters on groups, and the remaining filters. A filter that is None has no effect."""
    found = found.filter(**{to: by[name] for name, to in _GROUP_COLUMNS.items() if by[name] is not None})
    samples = Q(**{to: by[name] for name, to in _SAMPLE_COLUMNS.items() if by[name] is not None})
    if by["cut"] is not None:
        was_cut = Q(finish_reason="length") | Q(budget_hit=True)
        samples &= was_cut if by["cut"] else ~was_cut
    if by["error"] is not None:
        samples &= Q(reward_error__isnull=not by["error"])
    return found, Wanted(samples, by["q"] or "", by["dead"])
