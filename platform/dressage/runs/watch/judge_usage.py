"""Whether a run uses a judge: in its reward, in its shadows, or as the one that proposes rubric items."""

from functools import cache

from django.db.models import Prefetch

from dressage.rewards.selectors import version_by_ref
from dressage.runs.models import Control, Run
from dressage.runs.needs.reward_versions import TARGETS, named_by
from dressage.runs.states import FINISHED, ControlState
from dressage.teams.models import Team
from trainer_core.rewards import RewardDefinition


def run_that_asks(team: Team, slug: str) -> str | None:
    """A sentence that names the oldest run of the team that has not ended and needs the judge ``slug``.

    Staged controls count as if they were in effect. None if there is no such run.
    """

    @cache
    def asks(ref: str) -> bool:
        try:
            definition = RewardDefinition.model_validate(version_by_ref(team, ref).definition)
        except LookupError:
            return False
        return slug in definition.endpoints

    staged = Control.objects.filter(state=ControlState.STAGED, target__in=TARGETS)
    unfinished = Run.objects.for_team(team).exclude(state__in=FINISHED).order_by("created_at")
    for run in unfinished.prefetch_related(Prefetch("controls", staged, to_attr="staged")):
        reward = run.effective_spec.get("reward")
        if reward is None:
            continue  # it learns from rows
        refs = [reward["definition"], *reward.get("shadow", ())]
        refs += [ref for control in run.staged for ref in named_by(control.target, control.value)]
        proposer = (reward.get("evolve") or {}).get("endpoint")
        if proposer == slug or any(asks(ref) for ref in refs):
            return f"The run {run.name!r} uses this judge. Wait until it ends, or cancel it."
    return None
