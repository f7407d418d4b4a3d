"""Data that moves through the loop: trajectories, and the groups that are compared with one another."""

from dataclasses import dataclass, field, fields
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Rows = Literal["prompt", "tokens", "context", "steps"]
"""Unit that the first dimension of a trajectory's array counts: tokens of the prompt, of the completion, of both but
the last, or steps of the completion. Whatever packs, cuts or sends trajectories goes by this mark."""
_PROMPT: dict[str, Rows] = {"rows": "prompt"}
_TOKENS: dict[str, Rows] = {"rows": "tokens"}
_CONTEXT: dict[str, Rows] = {"rows": "context"}
_STEPS: dict[str, Rows] = {"rows": "steps"}

FinishReason = Literal["stop", "length", "aborted", "repetition", "pruned"]


@dataclass(slots=True)
class Trajectory:
    """One sampled completion of a prompt. Arrays have one entry per completion token, shape [T]."""

    trajectory_id: str
    prompt_ids: NDArray[np.int32] = field(metadata=_PROMPT)
    """Shape [P]."""
    token_ids: NDArray[np.int32] = field(metadata=_TOKENS)
    behaviour_logprobs: NDArray[np.float32] = field(metadata=_TOKENS)
    """Natural log of the engine's probability at ``temperature``; 0 for forced tokens."""
    versions: NDArray[np.int32] = field(metadata=_TOKENS)
    """Weight version that produced each token."""
    sampled: NDArray[np.bool_] = field(metadata=_TOKENS)
    """False for tokens that were forced into the context: no part of the loss or the mismatch."""
    finish_reason: FinishReason
    temperature: float
    thinking_tokens: int = 0
    budget_hit: bool = False
    output_text: str = ""
    """The decoded completion, tags kept, end-of-sequence token removed."""
    reward: float | None = None
    """None while not computed, and for ever when the reward failed (see ``reward_error``)."""
    reward_parts: dict[str, float] = field(default_factory=dict)
    reward_explained: dict[str, Any] = field(default_factory=dict)
    """Weight and reason of each component, as ``trainer_core.rewards.reasons.Explained``."""
    reward_error: str | None = None
    reward_forgiven: list[str] = field(default_factory=list)
    """Errors of parts that count as 0, because the reward definition says so."""
    reward_stops: bool = False
    """Whether the part that failed asks for the run to stop."""
    shadow_rewards: dict[str, float] = field(default_factory=dict)
    """Reward that each shadow version would have given, by its reference; those that could be computed."""
    shadow_errors: dict[str, str] = field(default_factory=dict)
    """Reason why a shadow version could not say, by its reference."""
    length_correction: float = 0.0
    """Correction that the length-bias watch has added to the reward. No part of whether the answer is right."""
    length_logit: float | None = None
    """Logit of the weight by length that the answer's positive advantage gets among the right ones of its group, by
    the spec of its dispatch; None where lengths weigh no advantages."""
    advantage: float = 0.0
    token_advantages: NDArray[np.float32] | None = field(default=None, metadata=_TOKENS)
    """Advantage of each token where a method tells them apart; then ``advantage`` is only what a rollout shows."""
    step_starts: NDArray[np.int32] | None = field(default=None, metadata=_STEPS)
    """First token of each step in whose state branches have begun, shape [K]: 0 first, then rising."""
    state_values: NDArray[np.float64] | None = field(default=None, metadata=_STEPS)
    """Mean reward of the branches from each of these states, shape [K]."""
    excluded: str | None = None
    """Reason why the trajectory is left out of the loss, such as "reward_error", "zero_advantage", "truncated",
    "pruned"."""
    learner_logprobs: NDArray[np.float32] | None = field(default=None, metadata=_TOKENS)
    entropy: NDArray[np.float32] | None = field(default=None, metadata=_TOKENS)
    top_ids: NDArray[np.int32] | None = field(default=None, metadata=_TOKENS)
    """The engine's likeliest tokens at each step, shape [T, K], where the run asks for them; 0 for forced tokens."""
    top_logprobs: NDArray[np.float32] | None = field(default=None, metadata=_TOKENS)
    """Log-probabilities of ``top_ids`` at ``temperature``, shape [T, K]."""
    routes: NDArray[np.uint8] | NDArray[np.int16] | None = field(default=None, metadata=_CONTEXT)
    """The experts that the engine sent each token but the last to, prompt included, where the run replays them: shape
    [P + T - 1, L, E] with E experts per token in each of L layers."""
    generation_seconds: float = 0.0

    @property
    def length(self) -> int:
        """Completion tokens."""
        return len(self.token_ids)

    def cut(self, length: int) -> None:
        """Keep the first ``length`` completion tokens, and what is known of each."""
        for name in PER_TOKEN:
            if (values := getattr(self, name)) is not None:
                setattr(self, name, values[:length])
        if self.routes is not None:
            self.routes = self.routes[: len(self.prompt_ids) + self.length - 1]
        self.thinking_tokens = min(self.thinking_tokens, length)


def _arrays(*rows: Rows) -> tuple[str, ...]:
    return tuple(one.name for one in fields(Trajectory) if one.metadata.get("rows") in rows)


PER_TOKEN = _arrays("tokens")
"""Arrays of a trajectory whose first dimension is its completion's tokens."""
ARRAYS = _arrays("prompt", "tokens", "context", "steps")
"""Fields of a trajectory that hold an array, or None."""


@dataclass(slots=True)
class Group:
    """The samples of one prompt, pinned to one steering revision at dispatch."""

    group_id: str
    """``<step>-<index>``: unique within a run, equal after a resume."""
    prompt_id: str
    """``<source>:<row number>``: key of the running pass rate."""
    source: str
    dataset: str
    """Dataset version as ``slug@version``."""
    item: dict[str, Any]
    """The dataset row: what graders see as ``item``."""
    prompt_text: str
    steering_revision: int
    trajectories: list[Trajectory] = field(default_factory=list)
    reward_ref: str = ""
    """Reward version, as ``slug@version``, that scores all of its samples: that of its dispatch."""
    success_threshold: float = 0.5
    """Reward from which a sample succeeds, by that version."""
