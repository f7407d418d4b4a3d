"""Expected time of a step, from what a rehearsal has measured and what earlier runs with the policy have shown."""

from typing import Any

from typing_extensions import TypedDict

from dressage.common.api.problems import Problem
from dressage.runs.preview.planning import rates_for_policy, scale_of
from dressage.teams.models import Team
from trainer_core.link.rehearsal import RehearsalReport
from trainer_core.planning import PlanError, Rates, plan
from trainer_core.planning.attained import MEASURED, learner_tokens_per_s
from trainer_core.planning.lengths import EmpiricalLengths
from trainer_core.planning.rates import DecodePoint, EngineRates, LearnerRates
from trainer_core.spec import RunSpec

_INSTANT = LearnerRates(tokens_per_s=1e9)
"""A learner whose time is left out."""
_SHARED = 2.0
"""Factor on the time of engine and learner while both work on the same cores."""


class StepTimeDocument(TypedDict):
    """Expected time of a step of the run."""

    step_seconds: float | None
    """Null where neither a run with this policy nor the rehearsal's device tells how fast the learner is."""
    generate_seconds: float
    """Time of the step in which the mean engine generates."""
    learn_seconds: float | None
    source: str
    """Origin of the speeds."""
    estimated: bool
    """Whether the learner's time is an estimate, from the policy's active parameters and the measured peak of the
    machine. What a run with this policy has measured goes before it."""


def step_time(team: Team, spec: RunSpec, report: RehearsalReport) -> dict[str, Any] | None:
    """A ``StepTimeDocument``; None where the planner cannot tell. Lengths of prompts and answers are the rehearsal's.

    Args:
        team: the owner of the runs that are asked.
        spec: the run's.
        report: what the rehearsal has seen.
    """
    learner, estimated = None, False
    try:
        rates = rates_for_policy(team, spec.policy.base)[1].model_copy(update=_seen(report))
        learner = rates.learner
    except Problem:  # no run with this policy has come so far
        learner = _estimate(team, spec, report)
        estimated = learner is not None
        rates = _own_rates(report, learner)
    try:
        engines, ranks = spec.parallelism.rollout_workers, spec.parallelism.learner_ranks
        found = plan(spec, engines * rates.engine.gpus + ranks * rates.learner.gpus, rates).current
    except PlanError:
        return None
    document = StepTimeDocument(
        step_seconds=None if learner is None else found.step_seconds,
        generate_seconds=found.generate_seconds,
        learn_seconds=None if learner is None else found.learn_seconds,
        source=rates.source,
        estimated=estimated,
    )
    return dict(document)


def _estimate(team: Team, spec: RunSpec, report: RehearsalReport) -> LearnerRates | None:
    """Speed of a learner rank by arithmetic and peak; None where device or policy do not tell them."""
    peak = report.speed.peak
    if peak is None:
        return None
    try:
        scale = scale_of(team, spec.policy.base)
    except Problem:
        return None
    lengths = _lengths(report).tokens
    context = (report.speed.prompt_tokens + sum(lengths) / len(lengths)) / 2
    # Ranks have a GPU each, and a host's cores together.
    operations = peak.operations_per_s / (1 if peak.gpu else spec.parallelism.learner_ranks)
    return LearnerRates(tokens_per_s=min(1e9, learner_tokens_per_s(scale.working(context), operations, MEASURED)))


def _own_rates(report: RehearsalReport, learner: LearnerRates | None) -> Rates:
    speed = report.speed
    point = DecodePoint(running=max(speed.running, 1e-3), tokens_per_s=max(speed.tokens_per_s, 1e-3))
    engine = "this rehearsal's engine"
    return Rates(
        source=engine if learner is None else f"{engine}, and a learner estimated by the peak of the same machine",
        engine=EngineRates(decode=(point,)),
        learner=learner or _INSTANT,
        overlap_slowdown=_SHARED if speed.peak is not None and not speed.peak.gpu else 1.0,
        **_seen(report),
    )


def _seen(report: RehearsalReport) -> dict[str, Any]:
    """Lengths of prompts and answers."""
    return {"lengths": _lengths(report), "prompt_tokens": max(1.0, report.speed.prompt_tokens)}


def _lengths(report: RehearsalReport) -> EmpiricalLengths:
    lengths = sorted(float(max(1, sample.tokens)) for group in report.groups for sample in group.samples)
    return EmpiricalLengths(tokens=tuple(lengths))
