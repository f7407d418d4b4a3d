"""What the broken methods and their correct bases train with: specs of the second task for the loop in one process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.bench.skills.families import sources
from trainer_core.rewards.definition import RewardDefinition
from trainer_core.spec import RunSpec

LONGEST = 40
"""Tokens of a completion at most: room for every level's working once, and for the longest not twice."""
GROUP = 16
PROMPTS = 16
STRICT = RewardDefinition.model_validate(
    {"components": [{"name": "correct", "weight": 1.0, "grader": {"type": "exact"}}]}
)
FLAWED = RewardDefinition.model_validate(
    {
        "components": [
            {
                "name": "correct",
                "weight": 1.0,
                "grader": {"type": "string_check", "input": "{{sample.answer_text}}", "operation": "like"},
            },
            {"name": "thorough", "weight": 0.3, "grader": {"type": "regex", "pattern": r"\d+(\|\d+)+"}},
        ]
    }
)
"""Pays an answer that *contains* the right one, and likes to see an alternative beside it."""


@dataclass(frozen=True)
class Setting:
    """A correct way to train."""

    name: str
    spec: Mapping[str, Any] = field(default_factory=dict)
    """Sections of the spec that differ from ``document``'s."""
    lag: int = 0
    """Versions that the weights which sample are behind the learner's."""
    reward: RewardDefinition = STRICT
    right_alone: bool = False
    """Whether only completions with a reward are learned from, with the reward as their advantage."""
    steps: int = 40

    def run_spec(self, seed: int) -> RunSpec:
        """The whole spec with a seed."""
        spec = document(self.steps, seed)
        for section, values in self.spec.items():
            merges = isinstance(values, Mapping) and "type" not in values
            spec[section] = {**spec.get(section, {}), **values} if merges else values
        return RunSpec.model_validate(spec)


def document(steps: int, seed: int) -> dict[str, Any]:
    """Group-relative advantages, PPO's clip, one update per step."""
    return {
        "policy": {"base": "skills"},
        "data": {"sources": [{"name": name, "dataset": f"{name}@1"} for name in sources()]},
        "reward": {"definition": "strict@1"},
        "rollout": {"group_size": GROUP, "max_tokens": LONGEST, "engine": {"max_model_len": 96}},
        "thinking": {"type": "tags"},
        "advantage": {"type": "grpo"},
        "loss": {"type": "ppo_clip", "ratio_min": 0.8, "ratio_max": 1.2},
        "corrections": [],
        "filters": [],
        "aggregation": {"type": "token_mean"},
        "optimizer": {"learning_rate": 3e-4},
        "parallelism": {"max_tokens_per_microbatch": 4096},
        "schedule": {"steps": steps, "seed": seed, "prompts_per_step": PROMPTS},
    }


ON_POLICY = Setting("on policy (GRPO)")
EPOCHS = Setting(
    "PPO's clip, 4 passes of 4 minibatches",
    {"schedule": {"updates_per_step": 4, "epochs": 4}},
    steps=20,
)
STALE = Setting(
    "η = 4 (decoupled PPO)",
    {
        "loss": {"type": "decoupled_ppo", "ratio_min": 0.8, "ratio_max": 1.2, "weight_max": 5.0},
        "optimizer": {"learning_rate": 1e-3},
    },
    lag=4,
)
BY_SEQUENCE = Setting("on policy, sequence means", {"aggregation": {"type": "sequence_mean"}})
FAST = Setting("on policy, learning rate 1e-3", {"optimizer": {"learning_rate": 1e-3}})
RIGHT_ALONE = Setting("right answers alone", right_alone=True)
LEASHED = Setting("KL penalty of 0.2 in the loss", {"kl": {"estimator": "k3", "coefficient": 0.2}})
RESISTING = Setting("flawed reward, KL penalty of 1", {"kl": {"estimator": "k3", "coefficient": 1.0}}, reward=FLAWED)
HACKING = (
    ON_POLICY,
    Setting("flawed reward", reward=FLAWED),
    Setting("flawed reward, KL penalty of 0.3", {"kl": {"estimator": "k3", "coefficient": 0.3}}, reward=FLAWED),
    RESISTING,
)
"""The strict reward, the flawed one, and what is said to help against it."""
