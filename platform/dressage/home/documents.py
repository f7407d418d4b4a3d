"""The document of the first page."""

from datetime import datetime, timedelta
from typing import Literal

from django.db.models import Count, Q
from django.utils import timezone
from typing_extensions import TypedDict

from dressage.common.openapi.document_schema import Moment
from dressage.common.times import iso
from dressage.home.spend import SpendDocument, spend_since
from dressage.policies.models import Policy
from dressage.rewards.models import RubricProposal
from dressage.rewards.models.proposal import ProposalState
from dressage.runs.facts import selectors
from dressage.runs.facts.documents import LiveRunDocument, live_run_document
from dressage.runs.models import Checkpoint
from dressage.runs.states import ACTIVE, RunState
from dressage.teams.models import Team
from trainer_core.link.events import ASKED_TO_PAUSE

WEEK = timedelta(days=7)
MOST = 20
"""Maximum number of rows in each part."""
NEWEST = 6
"""Number of checkpoints and policies that are shown."""


class AttentionDocument(TypedDict):
    """A run that needs attention."""

    run: LiveRunDocument
    why: Literal["failed", "finding", "paused"]
    """Failed this week; flagged by a guard or stuck; paused by itself."""
    text: str
    """Sentence that describes the problem."""


class ApprovalsDocument(TypedDict):
    """Proposals for the rubric of a reward that are waiting for a decision."""

    reward: str
    name: str
    open: int


class RecentCheckpointDocument(TypedDict):
    """A recently written checkpoint."""

    id: str
    run: str
    run_name: str
    step: int
    created_at: Moment


class RecentPolicyDocument(TypedDict):
    """A recently registered policy."""

    id: str
    name: str
    created_at: Moment


class HomeDocument(TypedDict):
    """The most important facts for a team. All parts are read together: if one fails, the whole response fails."""

    has_runs: bool
    attention: list[AttentionDocument]
    running: list[LiveRunDocument]
    queued: list[LiveRunDocument]
    approvals: list[ApprovalsDocument]
    spend: SpendDocument
    checkpoints: list[RecentCheckpointDocument]
    policies: list[RecentPolicyDocument]


def home_document(team: Team) -> HomeDocument:
    """The first page of a team."""
    since = timezone.now() - WEEK
    found = selectors.runs(team)
    live = Q(state__in=ACTIVE | {RunState.QUEUED, RunState.SUSPENDED})
    looked_at = found.filter(live | Q(finished_at__gte=since)).order_by("-updated_at")[:200]
    documents = [live_run_document(run) for run in looked_at]
    return {
        "has_runs": found.exists(),
        "attention": _attention(documents)[:MOST],
        "running": [run for run in documents if run["state"] in (RunState.STARTING, RunState.RUNNING)][:MOST],
        "queued": sorted((r for r in documents if r["state"] == RunState.QUEUED), key=_place)[:MOST],
        "approvals": _approvals(team),
        "spend": spend_since(team, since),
        "checkpoints": _checkpoints(team),
        "policies": _policies(team),
    }


def _attention(runs: list[LiveRunDocument]) -> list[AttentionDocument]:
    """Runs that need attention, the most serious first."""
    found = [one for run in runs if (one := _needs(run)) is not None]
    return sorted(found, key=lambda one: one["why"] != "failed" and one["run"]["health"]["state"] != "error")


def _needs(run: LiveRunDocument) -> AttentionDocument | None:
    if run["state"] == RunState.FAILED:
        return {"run": run, "why": "failed", "text": run["state_reason"]}
    stands = run["state"] in (RunState.PAUSED, RunState.SUSPENDED)
    if stands and not run["state_reason"].startswith(ASKED_TO_PAUSE) and run["state_reason"]:
        return {"run": run, "why": "paused", "text": run["state_reason"]}
    findings = run["health"]["findings"]
    if findings and run["state"] != RunState.CANCELLED:
        return {"run": run, "why": "finding", "text": findings[0]["message"]}
    return None


def _place(run: LiveRunDocument) -> int:
    return run["queue_position"] or 0


def _approvals(team: Team) -> list[ApprovalsDocument]:
    found = RubricProposal.objects.filter(reward__team=team, state=ProposalState.PROPOSED)
    rows = found.order_by("reward__name").values_list("reward", "reward__name").annotate(open=Count("pk"))
    return [{"reward": reward, "name": name, "open": number} for reward, name, number in rows[:MOST]]


def _checkpoints(team: Team) -> list[RecentCheckpointDocument]:
    rows = Checkpoint.objects.for_team(team).order_by("-created_at", "-id")
    columns = rows.values_list("id", "run", "run__name", "step", "created_at")[:NEWEST]
    return [
        {"id": id_, "run": run, "run_name": name, "step": step, "created_at": _text(at)}
        for id_, run, name, step, at in columns
    ]


def _policies(team: Team) -> list[RecentPolicyDocument]:
    rows = Policy.objects.for_team(team).order_by("-created_at", "-id").values_list("id", "name", "created_at")
    return [{"id": id_, "name": name, "created_at": _text(at)} for id_, name, at in rows[:NEWEST]]


def _text(at: datetime) -> str:
    return iso(at)
