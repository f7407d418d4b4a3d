"""The tokens about which engine and learner disagree most."""

from collections.abc import Sequence
from typing import TypedDict

import numpy as np

from trainer_core.episodes import Group

WORST_TOKENS = 8
"""Worst tokens stored per step."""


class WorstToken(TypedDict):
    """One token, as it is sent to the console."""

    group_id: str
    sample: int
    """Index of the trajectory in its group."""
    position: int
    """Index of the token in the completion, from 0."""
    token_id: int
    behaviour_logprob: float
    learner_logprob: float
    version: int
    """Version of the weights that sampled it."""


def worst_tokens(groups: Sequence[Group], count: int = WORST_TOKENS) -> list[WorstToken]:
    """The ``count`` sampled tokens with the largest |log π_learner − log π_behaviour|, worst first.

    Call it after the learner has scored the step (after ``learned`` in the loop). Its result can be dumped as JSON, and
    belongs in the step's ``rollouts`` event as ``worst_tokens``. NaN differences come first. Groups that the learner
    has not scored are ignored.
    """
    places: list[tuple[int, int]] = []
    parts, lengths = [], []
    for index, group in enumerate(groups):
        for sample, trajectory in enumerate(group.trajectories):
            learner = trajectory.learner_logprobs
            if learner is None or trajectory.length == 0:
                continue
            difference = np.abs(learner - trajectory.behaviour_logprobs)
            if not trajectory.sampled.all():
                difference[~trajectory.sampled] = -1.0
            places.append((index, sample))
            parts.append(difference)
            lengths.append(len(difference))
    if not parts:
        return []
    differences = np.nan_to_num(np.concatenate(parts), nan=np.inf, posinf=np.inf)
    taken = np.argpartition(-differences, min(count, len(differences)) - 1)[:count] if count else np.array([], int)
    ends = np.cumsum(lengths)
    worst: list[WorstToken] = []
    for token in sorted((int(one) for one in taken), key=lambda one: (-differences[one], one)):
        if differences[token] < 0:
            continue
        row = int(np.searchsorted(ends, token, side="right"))
        index, sample = places[row]
        position = token - int(ends[row]) + lengths[row]
        trajectory = groups[index].trajectories[sample]
        assert trajectory.learner_logprobs is not None
        worst.append(
            WorstToken(
                group_id=groups[index].group_id,
                sample=sample,
                position=position,
                token_id=int(trajectory.token_ids[position]),
                behaviour_logprob=float(trajectory.behaviour_logprobs[position]),
                learner_logprob=float(trajectory.learner_logprobs[position]),
                version=int(trajectory.versions[position]),
            )
        )
    return worst
