"""Data that moves through the loop: trajectories, and the groups that are compared with one another."""

from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from trainer_core.episodes.credit import Credit
from trainer_core.episodes.turns import Turn, begun
from trainer_core.episodes.verdict import Verdict

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
    turns: tuple[Turn, ...] = ()
    """Authors of the tokens; empty if the policy wrote all that was sampled, in one turn."""
    thinking_tokens: int = 0
    budget_hit: bool = False
    output_text: str = ""
    """The decoded completion, tags kept, end-of-sequence token removed."""
    step_starts: NDArray[np.int32] | None = field(default=None, metadata=_STEPS)
    """First token of each step from whose state branches were started, shape [K]: starts with 0, ascending."""
    state_values: NDArray[np.float64] | None = field(default=None, metadata=_STEPS)
    """Mean reward of the branches from each of these states, shape [K]."""
    token_advantages: NDArray[np.float32] | None = field(default=None, metadata=_TOKENS)
    """Advantage of each token, if a method assigns them per token; ``credit.advantage`` is then for display only."""
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
    verdict: Verdict = field(default_factory=Verdict)
    """Written by the reward workers; the run's shaping replaces it."""
    credit: Credit = field(default_factory=Credit)
    """Written by advantages and filters."""

    @property
    def reward(self) -> float | None:
        """The reward, shaped; None if there is none."""
        return self.verdict.reward

    @property
    def advantage(self) -> float:
        """The advantage of all of its tokens, unless ``token_advantages`` has one for each."""
        return self.credit.advantage

    @property
    def excluded(self) -> str | None:
        """Reason why it is left out of the loss."""
        return self.credit.excluded

    @excluded.setter
    def excluded(self, reason: str | None) -> None:
        # Filters of teams' plug-ins assign it.
        self.credit = replace(self.credit, excluded=reason)

    def exclude(self, reason: str) -> None:
        """Leave it out of the loss, unless it already is for another reason."""
        if self.credit.excluded is None:
            self.credit = replace(self.credit, excluded=reason)

    def earn(self, advantage: float) -> None:
        """Give it an advantage."""
        self.credit = replace(self.credit, advantage=advantage)

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
        self.turns = begun(self.turns, length)


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
