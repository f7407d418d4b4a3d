"""Trajectories and groups for tests that need no model."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from trainer_core.episodes import Credit, Group, Trajectory, Verdict

VERDICT = {
    "reward": "reward",
    "reward_parts": "parts",
    "reward_explained": "explained",
    "reward_error": "error",
    "reward_forgiven": "forgiven",
    "reward_stops": "stops",
    "shadow_rewards": "shadow_rewards",
    "shadow_errors": "shadow_errors",
    "length_correction": "length_correction",
}


def trajectory(reward: float | None = 0.0, *, length: int = 4, prompt: int = 3, **values: Any) -> Trajectory:
    """A trajectory of ``length`` sampled tokens, on-policy unless told otherwise."""
    given = {
        "trajectory_id": "t",
        "prompt_ids": np.arange(prompt, dtype=np.int32),
        "token_ids": np.arange(length, dtype=np.int32),
        "behaviour_logprobs": np.full(length, -1.0, np.float32),
        "versions": np.zeros(length, np.int32),
        "sampled": np.ones(length, np.bool_),
        "finish_reason": "stop",
        "temperature": 1.0,
        "reward": reward,
        "reward_error": "grader: failed" if reward is None else None,
    }
    return with_parts({**given, **values})


def with_parts(values: dict[str, Any]) -> Trajectory:
    """A trajectory of these fields, those of its verdict (``reward``, ``reward_…``) and of its credit among them."""
    verdict = {name: values.pop(given) for given, name in VERDICT.items() if given in values}
    credit = {name: values.pop(name) for name in ("advantage", "excluded", "length_logit") if name in values}
    return Trajectory(**values, verdict=Verdict(**verdict), credit=Credit(**credit))


def group(
    trajectories: Sequence[Trajectory],
    *,
    source: str = "sums",
    index: int = 0,
    revision: int = 0,
    ref: str = "calculation@1",
    threshold: float = 0.5,
) -> Group:
    """A group of ``trajectories``."""
    return Group(
        group_id=f"1-{index}",
        prompt_id=f"{source}:{index}",
        source=source,
        dataset=f"{source}@1",
        item={"prompt": "1+1=", "answer": "2"},
        prompt_text="1+1=",
        steering_revision=revision,
        reward_ref=ref,
        success_threshold=threshold,
        trajectories=list(trajectories),
    )


def rewarded(*rewards: float | None, **values: Any) -> Group:
    """A group whose trajectories have these rewards."""
    return group([trajectory(reward) for reward in rewards], **values)
