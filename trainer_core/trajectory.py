"""Data that moves through the loop: trajectories, and the groups that are compared with one another."""

from dataclasses import dataclass, field, fields
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Rows = Literal["prompt", "tokens", "context", "steps"]
"""Unit of the first dimension of a trajectory's array: tokens of the prompt, of the completion, of both except the
last, or steps of the completion. All code that packs, cuts or sends trajectories uses this mark."""
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
    """False for tokens that were forced into the context. They are not part of the loss or the mismatch."""
    finish_reason: FinishReason
    temperature: float
    thinking_tokens: int = 0
    budget_hit: bool = False
    output_text: str = ""
    """The decoded completion, tags kept, end-of-sequence token removed."""
    reward: float | None = None
    """None until it is computed, and permanently if the reward failed (see ``reward_error``)."""
    reward_parts: dict[str, float] = field(default_factory=dict)
    reward_explained: dict[str, Any] = field(default_factory=dict)
    """Weight and reason of each component, in the form of ``trainer_core.rewards.reasons.Explained``."""
    reward_error: str | None = None
    reward_forgiven: list[str] = field(default_factory=list)
    """Errors of parts that count as 0 because the reward definition says so."""
    reward_stops: bool = False
    """Whether the failed part requests that the run stop."""
    shadow_rewards: dict[str, float] = field(default_factory=dict)
    """Reward that each shadow version would have given, by its reference, if it could be computed."""
    shadow_errors: dict[str, str] = field(default_factory=dict)
    """Reason why a shadow version's reward could not be computed, by its reference."""
    length_correction: float = 0.0
    """Correction that the length-bias watch has added to the reward. It does not affect whether the answer is right."""
    length_logit: float | None = None
    """Logit of the length weight of the answer's positive advantage among the right answers of its group, under the
    spec at its dispatch; None if advantages are not weighted by length."""
    advantage: float = 0.0
    token_advantages: NDArray[np.float32] | None = field(default=None, metadata=_TOKENS)
    """Advantage of each token, if a method assigns them per token; ``advantage`` is then for display only."""
    step_starts: NDArray[np.int32] | None = field(default=None, metadata=_STEPS)
    """First token of each step from whose state branches were started, shape [K]: starts with 0, ascending."""
    state_values: NDArray[np.float64] | None = field(default=None, metadata=_STEPS)
    """Mean reward of the branches from each of these states, shape [K]."""
    excluded: str | None = None
    """Reason why the trajectory is left out of the loss, such as "reward_error", "zero_advantage", "truncated",
    "pruned"."""
    learner_logprobs: NDArray[np.float32] | None = field(default=None, metadata=_TOKENS)
    entropy: NDArray[np.float32] | None = field(default=None, metadata=_TOKENS)
    top_ids: NDArray[np.int32] | None = field(default=None, metadata=_TOKENS)
    """The engine's likeliest tokens at each step, shape [T, K], if the run requests them; 0 for forced tokens."""
    top_logprobs: NDArray[np.float32] | None = field(default=None, metadata=_TOKENS)
    """Log-probabilities of ``top_ids`` at ``temperature``, shape [T, K]."""
    routes: NDArray[np.uint8] | NDArray[np.int16] | None = field(default=None, metadata=_CONTEXT)
    """The experts that the engine routed each token except the last to, including the prompt, if the run replays them:
    shape [P + T - 1, L, E] with E experts per token in each of L layers."""
    generation_seconds: float = 0.0

    @property
    def length(self) -> int:
        """Completion tokens."""
        return len(self.token_ids)

    def cut(self, length: int) -> None:
        """Keep the first ``length`` completion tokens and their arrays."""
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
    """``<step>-<index>``: unique within a run, the same after a resume."""
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
    """Reward version, as ``slug@version``, that scores all of its samples: the one at its dispatch."""
    success_threshold: float = 0.5
    """Reward from which a sample succeeds, according to that version."""
