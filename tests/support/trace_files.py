"""Trace files for tests that have no learner."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.trainer_core.batches import group, trajectory
from trainer_core.episodes import Group
from trainer_core.link.traces import TraceHeader
from worker.loop.traces.encoding import encode


def trace_group(index: int, rewards: Sequence[float | None], *, step: int = 1, **values: Any) -> Group:
    """A group that the learner has scored, of three tokens a sample unless ``values`` give others.

    The text of a sample names its place.
    """
    made = group(
        [
            trajectory(
                reward,
                advantage=0.0 if reward is None else reward,
                **{
                    "length": 3,
                    "token_ids": np.array([10, 11, 12 + place], np.int32),
                    "learner_logprobs": np.array([-1.0, -1.5, -1.0], np.float32),
                    "entropy": np.array([0.5, 0.25, 0.0], np.float32),
                    "output_text": f"answer {place} of group {index}",
                    **values,
                },
            )
            for place, reward in enumerate(rewards)
        ],
        source="add",
        index=index,
    )
    made.group_id = f"{step}-{index}"
    made.prompt_text = f"prompt {index}"
    return made


def trace_file(
    run_id: str,
    groups: Sequence[Group],
    *,
    attempt: int = 1,
    step: int = 1,
    number: int = 0,
    stays: bool = True,
    text: Callable[[int], str] = "<{}>".format,
) -> bytes:
    """The groups as a worker sends them."""
    header = TraceHeader(
        run_id=run_id, attempt=attempt, step=step, number=number, stays=stays, groups=max(8, len(groups))
    )
    samples = [(one, place) for one in groups for place in range(len(one.trajectories))]
    return encode(header, samples, text)
