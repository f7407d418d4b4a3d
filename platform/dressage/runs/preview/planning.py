"""Reads for the planner: the rates measured by a team's runs."""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from dressage.common.api.problems import Problem, invalid
from dressage.policies.selectors import policy_by_name
from dressage.runs.facts.selectors import line_of, plain_run
from dressage.runs.models import Run
from dressage.teams.models import Team
from dressage.telemetry.models import Point, Series
from trainer_core.planning import PlanError, Rates
from trainer_core.planning.cluster import Scale
from trainer_core.planning.cluster.estimate import PROMPT_TOKENS, assumed_lengths
from trainer_core.planning.from_run import NEEDED, PAUSED, rates_from_steps
from trainer_core.planning.lengths import Lengths, LognormalLengths
from trainer_core.spec import RunSpec

STEPS_READ = 64
"""Number of a run's newest steps from which its rates are computed."""
RUNS_TRIED = 10
"""Number of newest runs with the same policy to try for rates, if the caller names no run."""


def rates_of_run(team: Team, run_id: str) -> tuple[Run, Rates]:
    """Rates from the newest steps of one run. Raises a 404 or 422 problem."""
    run = plain_run(team, run_id, with_spec=True)
    try:
        return run, _rates(run)
    except PlanError as error:
        raise invalid("/run", f"The run {run.name!r} has no rates: {error}", code="no_rates") from error


def rates_for_policy(team: Team, policy: str) -> tuple[Run, Rates]:
    """Rates from the team's newest run with this policy that has enough data. Raises a 422 problem."""
    candidates = Run.objects.for_team(team).filter(spec__policy__base=policy, started_at__isnull=False)
    for run in candidates.order_by("-started_at")[:RUNS_TRIED]:
        try:
            return run, _rates(run)
        except PlanError:
            continue  # it has hardly started; an older one may have data
    detail = f"No run of this team with the policy {policy!r} has reported its rates yet; give some, or start one."
    raise Problem(422, "Invalid request", detail, code="no_rates")


@dataclass(frozen=True, slots=True)
class TokenLengths:
    """Lengths of prompts and completions, and their source."""

    prompt_tokens: float
    lengths: Lengths
    source: str


def tokens_of(team: Team, spec: RunSpec, prompt_tokens: float | None, median_tokens: float | None) -> TokenLengths:
    """Lengths as given. Missing ones come from the team's newest run with the same policy, or are assumed."""
    if prompt_tokens is not None and median_tokens is not None:
        return TokenLengths(prompt_tokens, LognormalLengths(median=median_tokens), "the request")
    try:
        run, rates = rates_for_policy(team, spec.policy.base)
    except Problem:
        found = TokenLengths(
            PROMPT_TOKENS, assumed_lengths(spec), "an assumption: no run with this policy has reported its own"
        )
    else:
        found = TokenLengths(rates.prompt_tokens, rates.lengths, f"the run {run.name!r}")
    return TokenLengths(
        found.prompt_tokens if prompt_tokens is None else prompt_tokens,
        found.lengths if median_tokens is None else LognormalLengths(median=median_tokens),
        found.source,
    )


def scale_of(team: Team, policy: str) -> Scale:
    """Scale of a policy's weights. Raises a 422 problem if there is no such policy, or its files lack the scale."""
    try:
        return Scale.of(Path(policy_by_name(team, policy).path))
    except (LookupError, OSError, ValueError) as error:
        raise invalid("/spec/policy/base", f"The size of the policy {policy!r} is unknown: {error}") from error


def _rates(run: Run) -> Rates:
    return rates_from_steps(RunSpec.model_validate(run.effective_spec), _steps(run), f"the run {run.name!r}")


def _steps(run: Run) -> list[dict[str, float]]:
    """Metrics of the newest steps on the run's line, in order."""
    names = dict(Series.objects.filter(run=run, name__in=[*NEEDED, PAUSED]).values_list("id", "name"))
    on_line = Point.objects.filter(line_of(run).condition(), series_id__in=names)
    newest = on_line.order_by("-step").values_list("step", flat=True).first()
    if newest is None:
        return []
    found: defaultdict[int, dict[str, float]] = defaultdict(dict)
    rows = on_line.filter(step__gt=newest - STEPS_READ).values_list("step", "series_id", "value")
    for step, series, value in rows:
        found[step][names[series]] = value
    return [found[step] for step in sorted(found)]
