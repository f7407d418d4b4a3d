"""A plan as text."""

from __future__ import annotations

from collections.abc import Sequence

from trainer_core.planning import ModePlan, Rates, RunPlan
from trainer_core.spec import RunSpec

_HEADER = (
    "mode",
    "η",
    "rollout",
    "learner",
    "unused",
    "step",
    "whole run",
    "tokens/s",
    "engine idle",
    "learner idle",
    "cost",
)


def as_text(spec: RunSpec, rates: Rates, plans: Sequence[RunPlan]) -> str:
    """Tables of ``plans``, one per number of GPUs, below the prediction for the current spec."""
    current = plans[0].current
    lines = [
        f"rates: {rates.source}",
        f"a step: {_batch(spec)}, {plans[0].mean_tokens:,.0f} tokens each on average; {spec.schedule.steps:,} steps",
        "",
        "the spec unchanged",
        *_table([current]),
    ]
    for plan in plans:
        lines += ["", f"best split of {plan.gpus} GPUs", *_table(plan.modes)]
    lines += ["", "Start-up, evaluations and checkpoints are not counted. η: bound of staleness in versions."]
    return "\n".join(lines)


def _batch(spec: RunSpec) -> str:
    if spec.examples is not None:
        return f"{spec.schedule.prompts_per_step} {'pairs' if spec.objective.type == 'preference' else 'rows'}"
    return f"{spec.schedule.prompts_per_step} prompts × {spec.rollout.group_size} samples"


def _table(modes: Sequence[ModePlan]) -> list[str]:
    rows = [_HEADER, *(_row(mode) for mode in modes)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADER))]
    return [
        "  " + "  ".join(cell.ljust(width) if not place else cell.rjust(width) for place, (cell, width) in pairs)
        for pairs in (list(enumerate(zip(row, widths, strict=True))) for row in rows)
    ]


def _row(mode: ModePlan) -> tuple[str, ...]:
    return (
        mode.mode,
        str(mode.max_staleness),
        str(mode.rollout_gpus),
        str(mode.learner_gpus),
        str(mode.unused_gpus),
        _duration(mode.step_seconds),
        _duration(mode.total_seconds),
        f"{mode.tokens_per_s:,.0f}",
        f"{mode.engine_idle_share:.0%}",
        f"{mode.learner_idle_share:.0%}",
        f"{mode.gpu_hours:,.2f} GPU h" if mode.cost is None else f"{mode.cost:,.2f}",
    )


def _duration(seconds: float) -> str:
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 120:
        return f"{seconds:.2f} s"
    if seconds < 7200:
        return f"{seconds / 60:.1f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 172_800 else f"{seconds / 86_400:.1f} d"
