"""Expected time of a step, from the measurements of a rehearsal and of earlier runs with the policy."""

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
"""A learner that takes no time."""
_SHARED = 2.0
"""Slowdown of engine and learner while both run on the same cores."""


class StepTimeDocument(TypedDict):
    """Expected time of one step of the run."""

    step_seconds: float | None
    """Null if the learner's speed is unknown from both earlier runs with this policy and the rehearsal's device."""
    generate_seconds: float
    """Part of the step's time in which the average engine generates."""
    learn_seconds: float | None
    source: str
    """Source of the speeds."""
    estimated: bool
    """Whether the learner's time is an estimate, from the policy's active parameters and the machine's measured peak.
    Measurements of an earlier run with this policy take precedence."""


def step_time(team: Team, spec: RunSpec, report: RehearsalReport) -> dict[str, Any] | None:
    """A ``StepTimeDocument``; None if the planner cannot estimate it. Prompt and answer lengths are the rehearsal's.

    Args:
        team: the owner of the earlier runs.
        spec: the run's spec.
        report: the rehearsal's measurements.
    """
    learner, estimated = None, False
    try:
        rates = rates_for_policy(team, spec.policy.base)[1].model_copy(update=_seen(report))
        learner = rates.learner
    except Problem:  # no run with this policy has reported rates yet
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
    """Speed of a learner rank, from operations per token and the peak; None if device or policy lack these figures."""
    peak = report.speed.peak
    if peak is None:
        return None
    try:
        scale = scale_of(team, spec.policy.base)
    except Problem:
        return None
    lengths = _lengths(report).tokens
    context = (report.speed.prompt_tokens + sum(lengths) / len(lengths)) / 2
    # Each rank has its own GPU, but all ranks share the cores of a host.
    operations = peak.operations_per_s / (1 if peak.gpu else spec.parallelism.learner_ranks)
    return LearnerRates(tokens_per_s=min(1e9, learner_tokens_per_s(scale.working(context), operations, MEASURED)))


def _own_rates(report: RehearsalReport, learner: LearnerRates | None) -> Rates:
    speed = report.speed
    point = DecodePoint(running=max(speed.running, 1e-3), tokens_per_s=max(speed.tokens_per_s, 1e-3))
    engine = "this dry run's engine"
    return Rates(
        source=engine if learner is None else f"{engine}, and a learner estimated from the peak of the same machine",
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
