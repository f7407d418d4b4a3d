"""Expected time of a step, from what a rehearsal has measured and what earlier runs with the policy have shown."""

from typing import Any

from typing_extensions import TypedDict

from dressage.common.problems import Problem
from dressage.runs.planning import rates_for_policy
from dressage.teams.models import Team
from trainer_core.link.rehearsal import RehearsalReport
from trainer_core.planning import PlanError, Rates, plan
from trainer_core.planning.lengths import EmpiricalLengths
from trainer_core.planning.rates import DecodePoint, EngineRates, LearnerRates
from trainer_core.spec import RunSpec

_INSTANT = 1e9
"""Tokens per second of a learner whose time is left out."""


class StepTimeDocument(TypedDict):
    """Expected time of a step of the run."""

    step_seconds: float | None
    """Null where no run with this policy has shown how fast its learner is."""
    generate_seconds: float
    """Time of the step in which the mean engine generates."""
    learn_seconds: float | None
    source: str
    """Origin of the speeds."""


def step_time(team: Team, spec: RunSpec, report: RehearsalReport) -> dict[str, Any] | None:
    """A ``StepTimeDocument``; None where the planner cannot tell. Lengths of prompts and answers are the rehearsal's.

    Args:
        team: the owner of the runs that are asked.
        spec: the run's.
        report: what the rehearsal has seen.
    """
    seen = {"lengths": _lengths(report), "prompt_tokens": max(1.0, report.speed.prompt_tokens)}
    learner_known = True
    try:
        rates = rates_for_policy(team, spec.policy.base)[1].model_copy(update=seen)
    except Problem:  # no run with this policy has come so far
        learner_known, rates = False, _own_rates(report, seen)
    try:
        engines, ranks = spec.parallelism.rollout_workers, spec.parallelism.learner_ranks
        found = plan(spec, engines * rates.engine.gpus + ranks * rates.learner.gpus, rates).current
    except PlanError:
        return None
    document = StepTimeDocument(
        step_seconds=found.step_seconds if learner_known else None,
        generate_seconds=found.generate_seconds,
        learn_seconds=found.learn_seconds if learner_known else None,
        source=rates.source,
    )
    return dict(document)


def _own_rates(report: RehearsalReport, seen: dict[str, Any]) -> Rates:
    speed = report.speed
    point = DecodePoint(running=max(speed.running, 1e-3), tokens_per_s=max(speed.tokens_per_s, 1e-3))
    return Rates(
        source="this rehearsal's engine",
        engine=EngineRates(decode=(point,)),
        learner=LearnerRates(tokens_per_s=_INSTANT),
        **seen,
    )


def _lengths(report: RehearsalReport) -> EmpiricalLengths:
    lengths = sorted(float(max(1, sample.tokens)) for group in report.groups for sample in group.samples)
    return EmpiricalLengths(tokens=tuple(lengths))
