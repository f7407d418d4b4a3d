"""Evaluation on held-out prompts: the same prompts and sampling each time, all by one version of the weights.

The draws are the same each time, too. In modes that take turns, the engines do nothing else during an evaluation, and
one seed serves all samples. In overlapping modes each sample has its own seed: this costs a little, but makes its draws
independent of other requests.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trainer_core.episodes import Group
from trainer_core.link.events import EvalData
from trainer_core.rewards.outcomes import pass_rate
from trainer_core.rewards.pass_at_k import pass_at_k
from trainer_core.spec import RunSpec
from trainer_core.spec.data.prompt_format import PLAIN, PromptFormat
from worker.engine import Sampling
from worker.link.client import Link
from worker.loop.reporting.reports import checked, plain
from worker.messages.ticket import Batch, Ticket
from worker.rollout.generation import GenerationStage
from worker.seeds import derive_seed


@dataclass(frozen=True)
class EvaluationSet:
    """The prompts of one held-out source."""

    name: str
    dataset: str
    rows: list[dict[str, Any]]
    prompts: list[NDArray[np.int32]]
    """Token ids of each row's prompt, shape [P]."""
    format: PromptFormat = PLAIN
    """Format in which the rows are presented to the policy."""


class Evaluator:
    """The evaluations of one run. Used only by the loop's thread."""

    def __init__(
        self,
        sets: list[EvaluationSet],
        generation: GenerationStage,
        link: Link,
        max_tokens: int,
        evaluated_before: bool,
    ) -> None:
        """Prepare the evaluations of one attempt.

        Args:
            sets: the held-out sources.
            generation: answers the prompts.
            link: receives the results.
            max_tokens: longest completion: the run's initial value, regardless of later controls.
            evaluated_before: whether an earlier attempt, whose checkpoint this one resumes, reported a result.
        """
        self._sets, self._generation, self._link, self.max_tokens = sets, generation, link, max_tokens
        self._evaluated_before = evaluated_before
        self.last: Future[Batch] | None = None
        """The latest evaluation, which may still be running."""
        self._untold: deque[dict[str, float]] = deque()
        """Results that the guards have not seen yet."""

    def take_results(self) -> list[dict[str, float]]:
        """Metrics of the evaluations that ended since the last call, oldest first."""
        found = []
        while self._untold:
            found.append(self._untold.popleft())
        return found

    @property
    def has_result(self) -> bool:
        """Whether the run has a result, from this attempt's latest evaluation or from an earlier attempt."""
        last = self.last
        ended = last is not None and last.done() and not last.cancelled() and last.exception() is None
        return self._evaluated_before or ended

    def start(self, spec: RunSpec, step: int, threshold: float) -> None:
        """Start evaluating the weights after ``step``. The result is reported when it is available.

        Args:
            spec: the run's spec.
            step: step after which the policy is evaluated.
            threshold: minimum reward of a success, under the reward version that trains now.
        """
        seed = derive_seed(spec.schedule.seed, "evaluation")
        batch = evaluation_batch(self._sets, spec, step, self.max_tokens, threshold, seed)
        self.last = self._generation.evaluate(
            batch,
            seed,
            not spec.rollout.overlaps,
            lambda done, total: self._link.phase("evaluate", step, done, total),
        )
        self.last.add_done_callback(partial(self._report, spec.evaluation.pass_at))

    def _report(self, pass_at: Sequence[int], future: Future[Batch]) -> None:
        batch = future.result()
        metrics = plain(evaluation_metrics(batch, pass_at))
        self._link.emit(checked(lambda: EvalData(metrics=metrics)), batch.step)
        self._untold.append(metrics)


def evaluation_due(spec: RunSpec, step: int) -> bool:
    """Whether the policy after ``step`` steps is evaluated."""
    return bool(spec.evaluation.sources) and (step % spec.evaluation.every_steps == 0 or step == spec.schedule.steps)


def evaluated_before(told: bool | None, state: Mapping[str, Any]) -> bool:
    """Whether an earlier attempt has reported the evaluation of the weights that this attempt starts from.

    Args:
        told: what the platform says, which also knows what was reported after the checkpoint was written.
        state: the checkpoint's state; empty without one. It decides for a platform that says nothing.
    """
    if told is not None:
        return told
    return bool(state) and (state["step"] > 0 or bool(state.get("evaluated_at_start")))


def evaluation_batch(
    sets: list[EvaluationSet], spec: RunSpec, step: int, max_tokens: int, success_threshold: float, seed: int
) -> Batch:
    """All held-out prompts as one batch, scored by the reward version that trains now, without shadows.

    Args:
        sets: the held-out sources.
        spec: the run's spec.
        step: step after which the policy is evaluated.
        max_tokens: the run's initial value, regardless of later controls.
        success_threshold: success threshold of that reward version.
        seed: the seed of all draws.
    """
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
            sampling = Sampling(
                temperature=spec.evaluation.temperature,
                max_tokens=max_tokens,
                thinking_budget=spec.evaluation.thinking_budget,
                seed=derive_seed(seed, source.name, index) if spec.rollout.overlaps else None,
            )
            samples = spec.evaluation.samples_per_prompt
            tickets.append(Ticket(group, prompt, spec, samples, sampling, form=source.format))
    return Batch(step, tickets)


def evaluation_metrics(batch: Batch, pass_at: Sequence[int] = ()) -> dict[str, float]:
    """Mean reward with its standard error over prompts, pass rate and pass@k with their intervals, length, by source.

    A source without any computed reward has no score.
    """
    metrics: dict[str, float] = {}
    for source in dict.fromkeys(group.source for group in batch.groups):
        groups = [group for group in batch.groups if group.source == source]
        trajectories = [t for group in groups for t in group.trajectories]
        rewards = [t.reward for t in trajectories if t.reward is not None]
        if rewards:
            metrics[f"eval/{source}/score/mean"] = float(np.mean(rewards))
        means = [
            np.mean(known)
            for group in groups
            if (known := [t.reward for t in group.trajectories if t.reward is not None])
        ]
        if len(means) > 1:
            metrics[f"eval/{source}/score/error"] = float(np.std(means, ddof=1)) / math.sqrt(len(means))
        rate = pass_rate(groups)
        if not math.isnan(rate):
            metrics[f"eval/{source}/pass_rate"] = rate
        if (first := pass_at_k(groups, 1)) is not None:
            metrics |= {f"eval/{source}/pass_rate/low": first.low, f"eval/{source}/pass_rate/high": first.high}
        for k in pass_at:
            if (found := pass_at_k(groups, k)) is not None:
                name = f"eval/{source}/pass_at/{k}"
                metrics |= {f"{name}/mean": found.mean, f"{name}/low": found.low, f"{name}/high": found.high}
        metrics[f"eval/{source}/response_length/mean"] = float(np.mean([t.length for t in trajectories]))
    return metrics
