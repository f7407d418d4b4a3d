"""Evaluation on held-out prompts: the same prompts and sampling each time, all by one version of the weights.

Where modes take turns the engines do nothing else meanwhile, and the seed is the same each time, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trainer_core.rollout_metrics import pass_rate
from trainer_core.spec import RunSpec
from trainer_core.trajectory import Group
from worker.buffer import Batch, Ticket
from worker.engine import Sampling


@dataclass(frozen=True)
class EvaluationSet:
    """The prompts of one held-out source."""

    name: str
    dataset: str
    rows: list[dict[str, Any]]
    prompts: list[NDArray[np.int32]]
    """Token ids of each row's prompt, shape [P]."""


def evaluation_due(spec: RunSpec, step: int) -> bool:
    """Whether the policy after ``step`` steps is evaluated."""
    return bool(spec.evaluation.sources) and (step % spec.evaluation.every_steps == 0 or step == spec.schedule.steps)


def evaluation_batch(
    sets: list[EvaluationSet], spec: RunSpec, step: int, max_tokens: int, success_threshold: float
) -> Batch:
    """All held-out prompts as one batch, scored by the reward version that trains now, without its shadows.

    Args:
        sets: the held-out sources.
        spec: the run's.
        step: after which the policy is evaluated.
        max_tokens: the run's first, whatever controls do to it later.
        success_threshold: of that reward version.
    """
    sampling = Sampling(
        temperature=spec.evaluation.temperature,
        max_tokens=max_tokens,
        thinking_budget=spec.evaluation.thinking_budget,
    )
    tickets = []
    for source in sets:
        for index, (row, prompt) in enumerate(zip(source.rows, source.prompts, strict=True)):
            group = Group(
                group_id=f"eval-{step}-{source.name}-{index}",
                prompt_id=f"{source.name}:{index}",
                source=source.name,
                dataset=source.dataset,
                item=row,
                prompt_text="",
                steering_revision=0,
                reward_ref=spec.reward.definition,
                success_threshold=success_threshold,
            )
            tickets.append(Ticket(group, prompt, spec, spec.evaluation.samples_per_prompt, sampling))
    return Batch(step, tickets)


def evaluation_metrics(batch: Batch) -> dict[str, float]:
    """Mean reward, pass rate and length of each source. A source without any computed reward has no score."""
    metrics: dict[str, float] = {}
    for source in dict.fromkeys(group.source for group in batch.groups):
        groups = [group for group in batch.groups if group.source == source]
        trajectories = [t for group in groups for t in group.trajectories]
        rewards = [t.reward for t in trajectories if t.reward is not None]
        if rewards:
            metrics[f"eval/{source}/score/mean"] = float(np.mean(rewards))
        rate = pass_rate(groups)
        if not math.isnan(rate):
            metrics[f"eval/{source}/pass_rate"] = rate
        metrics[f"eval/{source}/response_length/mean"] = float(np.mean([t.length for t in trajectories]))
    return metrics
