"""Deliberately broken methods, each with the correct base that it is compared with.

No spec can ask for any of them, and the product holds none: they are put into the bench's own process, by patching one
function of the learner while a run lasts, or by spoiling what the loop hands to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from statistics import mean, stdev
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor

from tests.bench.skills.loop import Hooks
from tests.bench.skills.settings import (
    BY_SEQUENCE,
    EPOCHS,
    FAST,
    LEASHED,
    ON_POLICY,
    RESISTING,
    RIGHT_ALONE,
    STALE,
    Setting,
)
from trainer_core.episodes import Group, Verdict
from trainer_core.methods import aggregation, kl
from trainer_core.methods.ragged import sequence_sum
from trainer_core.spec.methods.aggregation import SequenceMean
from trainer_core.update.objective import policy_objective


@dataclass(frozen=True)
class Fault:
    """One thing done wrongly."""

    name: str
    words: str
    """What is wrong, as the page says it."""
    base: Setting
    hooks: Hooks
    judged_by: str = ""
    """Sub-skill that the page judges by; the mean of all where it is empty."""


def _long_ones_reversed(groups: list[Group]) -> None:
    """The longest quarter of each group learns the opposite."""
    for group in groups:
        longest = sorted(group.trajectories, key=lambda t: -t.length)[: len(group.trajectories) // 4]
        for trajectory in longest:
            trajectory.earn(-trajectory.advantage)


REVERSED_SOURCE = "sum_2"


def _source_reversed(groups: list[Group]) -> None:
    for group in groups:
        if group.source == REVERSED_SOURCE:
            for trajectory in group.trajectories:
                trajectory.earn(-trajectory.advantage)


def _neighbours_reward(groups: list[Group]) -> None:
    for group in groups:
        rewards = [trajectory.reward for trajectory in group.trajectories]
        for index, trajectory in enumerate(group.trajectories):
            trajectory.verdict = Verdict(rewards[index - 1])


def _across_groups(groups: list[Group]) -> None:
    """Each group is measured against mean and deviation of the one before it."""
    rewards = [[trajectory.reward or 0.0 for trajectory in group.trajectories] for group in groups]
    for index, group in enumerate(groups):
        centre, spread = mean(rewards[index - 1]), stdev(rewards[index - 1])
        for trajectory, reward in zip(group.trajectories, rewards[index], strict=True):
            trajectory.earn((reward - centre) / (spread + 1e-6))


def _older_every_other(step: int, lag: int) -> int:
    """Every other step is sampled by weights that are eight versions old, and says that they were the newest."""
    return max(0, step - 1 - lag - (8 if step % 2 == 0 else 0))


def _surrogate(wrong: Callable[..., Any]) -> Callable[[], Any]:
    @contextmanager
    def patched() -> Iterator[None]:
        with (
            patch("trainer_core.methods.losses.ppo_clip.clipped_surrogate", wrong),
            patch("trainer_core.methods.losses.decoupled_ppo.clipped_surrogate", wrong),
        ):
            yield

    return patched


def _optimistic(ratio: Tensor, advantages: Tensor, low: float, high: float) -> tuple[Tensor, Tensor]:
    """The clip binds on the wrong side: the larger of the two surrogates instead of the smaller one."""
    free, clipped = -advantages * ratio, -advantages * ratio.clamp(low, high)
    return torch.minimum(free, clipped), clipped.detach() < free.detach()


def _loss_of(change: Callable[[Any, Tensor], tuple[Any, Tensor]]) -> Callable[[], Any]:
    """A context in which the loss is given another batch and other old log-probabilities than it should be."""
    right = policy_objective.loss_share

    def wrong(spec: Any, batch: Any, logprobs: Tensor, old: Tensor, *others: Any, **named: Any) -> Tensor:
        batch, old = change(batch, old)
        return right(spec, batch, logprobs, old, *others, **named)

    return lambda: patch("trainer_core.update.gradients.loss_share", wrong)


def _late_mask(batch: Any, old: Tensor) -> tuple[Any, Tensor]:
    """The mask begins one token late: the first token of an answer is never learned."""
    return replace(batch, mask=batch.mask & (batch.offset > 0)), old


def _early_mask(batch: Any, old: Tensor) -> tuple[Any, Tensor]:
    """The mask ends one token early: the last token of an answer is never learned."""
    last = torch.cat([batch.sequence[1:] != batch.sequence[:-1], batch.sequence.new_ones(1, dtype=torch.bool)])
    return replace(batch, mask=batch.mask & ~last), old


def _shifted_logprobs(batch: Any, old: Tensor) -> tuple[Any, Tensor]:
    """Old log-probabilities stand one token too far back."""
    return batch, torch.where(batch.offset == 0, old, old.roll(1))


def _forced_ratio(batch: Any, old: Tensor) -> tuple[Any, Tensor]:
    """What has sampled is taken for the learner's policy before the step."""
    return replace(batch, behaviour_logprobs=old), old


def _inverted_ratio(batch: Any, old: Tensor) -> tuple[Any, Tensor]:
    """The importance weight of the stale sample is its own inverse."""
    return replace(batch, behaviour_logprobs=2 * old - batch.behaviour_logprobs), old


@contextmanager
def _repelled() -> Iterator[None]:
    """The KL penalty with the wrong sign."""
    right = kl.penalty
    with patch.object(kl, "penalty", lambda *given: -right(*given)):
        yield


@contextmanager
def _twice_normalised() -> Iterator[None]:
    """Each completion is divided by its length once more."""
    right = aggregation.FORMULAS._formulas[SequenceMean]

    def wrong(spec: Any, tokens: aggregation.Tokens) -> Tensor:
        lengths = sequence_sum(tokens.counted, tokens.sequence).clamp(min=1)
        return right(spec, tokens) / lengths

    with patch.dict(aggregation.FORMULAS._formulas, {SequenceMean: wrong}):
        yield


FAULTS = (
    Fault(
        "long answers reversed",
        "the longest quarter of each group has its advantage negated",
        ON_POLICY,
        Hooks(assigned=_long_ones_reversed),
    ),
    Fault(
        "one source reversed",
        f"advantages of {REVERSED_SOURCE} are negated",
        ON_POLICY,
        Hooks(assigned=_source_reversed),
        judged_by=REVERSED_SOURCE,
    ),
    Fault(
        "neighbour's reward",
        "each completion is given the reward of the one before it in its group",
        ON_POLICY,
        Hooks(scored=_neighbours_reward),
    ),
    Fault(
        "other group's baseline",
        "each reward is measured against mean and deviation of another prompt's group",
        ON_POLICY,
        Hooks(assigned=_across_groups),
    ),
    Fault("mask one late", "first tokens are never learned", ON_POLICY, Hooks(learner=_loss_of(_late_mask))),
    Fault("mask one early", "last tokens are never learned", RIGHT_ALONE, Hooks(learner=_loss_of(_early_mask))),
    Fault(
        "length divided twice",
        "each completion's mean is divided by its length once more",
        BY_SEQUENCE,
        Hooks(learner=_twice_normalised),
    ),
    Fault(
        "old weights",
        "every other step is sampled by weights eight versions old, without a correction",
        FAST,
        Hooks(version=_older_every_other),
    ),
    Fault(
        "clip on the wrong side",
        "the larger surrogate instead of the smaller one",
        EPOCHS,
        Hooks(learner=_surrogate(_optimistic)),
    ),
    Fault(
        "log-probabilities shifted",
        "the old ones stand one token too far back",
        EPOCHS,
        Hooks(learner=_loss_of(_shifted_logprobs)),
    ),
    Fault("ratio forced to 1", "stale samples are taken for fresh ones", STALE, Hooks(learner=_loss_of(_forced_ratio))),
    Fault(
        "ratio inverted", "the importance weight is its own inverse", STALE, Hooks(learner=_loss_of(_inverted_ratio))
    ),
    Fault(
        "KL of the wrong sign",
        "the penalty drives away from the base policy",
        RESISTING,
        Hooks(learner=_repelled),
    ),
)
MILD = (
    Fault("mask one early", "last tokens are never learned", ON_POLICY, Hooks(learner=_loss_of(_early_mask))),
    Fault(
        "old weights",
        "every other step is sampled by weights eight versions old, without a correction",
        ON_POLICY,
        Hooks(version=_older_every_other),
    ),
    Fault("KL of the wrong sign", "the penalty drives away from the base policy", LEASHED, Hooks(learner=_repelled)),
)
"""The same faults in settings that hide them: what does not show in a gentle run may still be wrong."""
