"""Limits that the objective of a run sets: the kinds of jobs and forks that make sense for it."""

from collections.abc import Mapping
from typing import Any

from dressage.common.api.problems import conflict, invalid
from trainer_core.spec import RunSpec


def kind_of(document: Mapping[str, Any]) -> str:
    """The type of a stored spec's objective; specs of earlier releases have none, which means rl."""
    return str((document.get("objective") or {}).get("type", "rl"))


def require_samples(spec: RunSpec, what: str) -> None:
    """Require that a run of ``spec`` samples completions, which ``what`` is about. Raises a 422 problem."""
    if spec.examples is not None:
        raise invalid("/spec/objective", _no_samples(spec, what), code="no_samples")


def require_sampling_run(spec: RunSpec, what: str) -> None:
    """Require that a run which exists samples completions, which ``what`` is about. Raises a 409 problem."""
    if spec.examples is not None:
        raise conflict(_no_samples(spec, what), code="no_samples")


def require_same(spec: RunSpec, parent: str) -> None:
    """Require that a fork keeps the objective of the run that it starts from.

    Args:
        spec: the fork's spec.
        parent: type of the objective of that run.

    Raises:
        Problem: 422, which says how to train the same weights for another objective.
    """
    asked = spec.objective.type
    if asked == parent:
        return
    detail = (
        f"A fork keeps the objective of its run, which is {parent}, and the spec has {asked}. To continue the weights "
        f"with {asked}, make a policy from the checkpoint, and create a run with this policy as policy.base."
    )
    raise invalid("/spec/objective", detail, code="other_objective")


def _no_samples(spec: RunSpec, what: str) -> str:
    return (
        f"{what} is about sampled completions. A run with objective.type = {spec.objective.type} learns from the rows "
        "of its datasets, and samples none."
    )
