"""Made-up specs, trajectories and groups for the learner's tests."""

from typing import Any

import numpy as np

from trainer_core.episodes import Credit, Group, Trajectory, Verdict
from trainer_core.spec import RunSpec

VOCABULARY = 64


def make_spec(**parts: Any) -> RunSpec:
    """A valid spec; ``parts`` replace its sections."""
    document: dict[str, Any] = {
        "policy": {"base": "tiny"},
        "data": {"sources": [{"name": "a", "dataset": "a@1"}]},
        "reward": {"definition": "r@1"},
        "rollout": {"group_size": 4, "max_tokens": 60, "engine": {"max_model_len": 128}},
        "schedule": {"steps": 10, "prompts_per_step": 4},
        "optimizer": {"learning_rate": 1e-3},
    }
    return RunSpec.model_validate({**document, **parts})


def make_trajectory(rng: np.random.Generator, prompt: np.ndarray, length: int, *, forced: int = 0) -> Trajectory:
    """A random completion; ``forced`` tokens in its middle were not sampled."""
    sampled = np.ones(length, dtype=np.bool_)
    sampled[length // 2 : length // 2 + forced] = False
    return Trajectory(
        trajectory_id=f"t{rng.integers(1 << 30)}",
        prompt_ids=prompt,
        token_ids=rng.integers(0, VOCABULARY, length).astype(np.int32),
        behaviour_logprobs=np.where(sampled, rng.normal(-4.2, 0.3, length), 0.0).astype(np.float32),
        versions=np.zeros(length, dtype=np.int32),
        sampled=sampled,
        finish_reason="stop",
        temperature=1.0,
        verdict=Verdict(reward=0.0),
        credit=Credit(advantage=float(rng.normal())),
    )


def make_groups(seed: int, *, groups: int = 4, samples: int = 4, longest: int = 40) -> list[Group]:
    """Groups of random completions of random lengths, some with forced tokens."""
    rng = np.random.default_rng(seed)
    result = []
    for index in range(groups):
        prompt = rng.integers(0, VOCABULARY, rng.integers(3, 10)).astype(np.int32)
        lengths = rng.integers(2, longest, samples)
        trajectories = [make_trajectory(rng, prompt, int(n), forced=int(n) // 4) for n in lengths]
        result.append(Group(f"{seed}-{index}", f"a:{index}", "a", "a@1", {}, "", 0, trajectories=trajectories))
    return result
