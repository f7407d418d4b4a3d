"""Filters of rollouts, the same for their groups, for exports and for scoring again."""

from typing import Any

from django.db.models import QuerySet

from dressage.common.api.query import Flag, Number, Parameter, Text, Whole
from dressage.common.scopes import Scope
from dressage.runs.facts.selectors import line_of
from dressage.runs.models import Run
from dressage.telemetry import selectors
from dressage.telemetry.models import Rollout
from dressage.telemetry.traces.filters import filtered
from dressage.telemetry.traces.groups import Wanted

REASON_SCOPES = (Scope.DATASETS_READ, Scope.REWARDS_READ)
"""Scopes that a token needs besides ``runs:read`` to see graders' reasons, which quote rows and judges."""
FILTERS: tuple[Parameter, ...] = (
    Whole(name="step", description="Only this step."),
    Whole(name="first_step", description="Only this step and later ones."),
    Whole(name="last_step", description="Only this step and earlier ones."),
    Text(name="source", description="Only this source."),
    Text(name="prompt_id", description="Only this prompt: `<source>:<row, from 0>`."),
    Text(name="group_id", description="Only this prompt group."),
    Number(name="min_reward", description="Groups with a sample whose reward is at least this."),
    Number(name="max_reward", description="Groups with a sample whose reward is at most this."),
    Text(name="finish_reason", description="Groups with a sample that ended this way: `stop`, `length` and so on."),
    Flag(name="cut", default=None, description="Groups with a truncated sample, or with one that is not."),
    Flag(name="error", default=None, description="Groups with a sample whose reward failed, or did not."),
    Flag(name="dead", default=None, description="Only groups whose rewards are all equal, or only the others."),
    Number(name="min_gap", description="Groups with a token on which engine and learner differ by at least this."),
    Text(name="q", description="Groups with this text in a prompt or completion, ignoring case."),
    Flag(name="superseded", description="Instead, steps that later attempts repeated."),
)


def chosen(run: Run, query: dict[str, Any]) -> tuple[QuerySet[Rollout], Wanted]:
    """Rollouts of the run after the filters on groups, and the remaining filters."""
    return filtered(selectors.rollouts(run.id, line_of(run), superseded=query["superseded"]), query)
