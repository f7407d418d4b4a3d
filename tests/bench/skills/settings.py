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
            }
        ]
    }
)
"""Pays an answer that *contains* the right one: whoever hedges, or writes every number, is paid."""


@dataclass(frozen=True)
class Setting:
    """A correct way to train."""

    name: str
    spec: Mapping[str, Any] = field(default_factory=dict)
    """Sections of the spec that differ from ``document``'s."""
    lag: int = 0
    """Versions that the weights which sample are behind the learner's."""
    reward: RewardDefinition = STRICT
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


ON_POLICY = Setting("on policy: GRPO, one update per step")
EPOCHS = Setting(
    "many updates: PPO's clip, 4 passes of 4 minibatches",
    {"schedule": {"updates_per_step": 4, "epochs": 4}, "optimizer": {"learning_rate": 3e-4}},
)
STALE = Setting(
    "off policy: η = 4, the sampler as proximal policy",
    {
        "schedule": {"updates_per_step": 4},
        "loss": {"type": "decoupled_ppo", "ratio_min": 0.8, "ratio_max": 1.2, "weight_max": 5.0},
        "optimizer": {"learning_rate": 3e-4},
    },
    lag=4,
)
BY_SEQUENCE = Setting("on policy, each completion weighs alike", {"aggregation": {"type": "sequence_mean"}})
LEASHED = Setting("KL penalty of 0.02 in the loss", {"kl": {"estimator": "k3", "coefficient": 0.02}})
FLAWED_REWARD = Setting("flawed reward", reward=FLAWED)
HACKING = (
    ON_POLICY,
    FLAWED_REWARD,
    Setting("flawed reward, KL penalty of 0.1", {"kl": {"estimator": "k3", "coefficient": 0.1}}, reward=FLAWED),
    Setting("flawed reward, KL penalty of 0.5", {"kl": {"estimator": "k3", "coefficient": 0.5}}, reward=FLAWED),
)
"""The strict reward, the flawed one, and what is said to help against it."""
