"""Frozen-weight replay: recorded tokens scored again by engine and learner at the same weights.

What is left of their difference cannot be age: ``trainer_core.diagnosis.attribute`` tells the causes apart by it.

    replayed = replay(engine, model, trajectories, top_p=…, top_k=…, own_prompts=own_prompts(tokenizer, groups))
    attribution = attribute(trajectories, replayed, version)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from trainer_core.diagnosis import ReplayedTokens
from trainer_core.diagnosis.truncation import log_kept_mass
from trainer_core.trajectory import Group, Trajectory

if TYPE_CHECKING:
    from worker.tokenizer import PolicyTokenizer

BATCH = 64
"""Sequences that the engine scores in one call."""


class Scorer(Protocol):
    """What is needed of an engine."""

    def score(self, sequences: list[list[int]]) -> list[list[float]]:
        """Log-probability, at temperature 1 and over the full vocabulary, of each token but the first."""


@torch.no_grad()
def replay(
    engine: Scorer,
    model: Any,
    trajectories: Sequence[Trajectory],
    *,
    top_p: float = 1.0,
    top_k: int = 0,
    own_prompts: Mapping[str, NDArray[np.int32]] | None = None,
) -> dict[str, ReplayedTokens]:
    """Score ``trajectories`` again on both sides.

    Engine and learner are compared at temperature 1, at which the engine scores; the mass that truncated sampling keeps
    is that at each trajectory's own temperature.

    Args:
        engine: serves the same weights as ``model``.
        model: the learner's Hugging Face causal model, in evaluation mode.
        trajectories: with at least one completion token; others are left out.
        top_p: of the sampling, 1 for none.
        top_k: of the sampling, 0 for none.
        own_prompts: token ids of prompts as the learner's own template renders them, by trajectory id; without an
            entry they are the recorded ones.

    Returns:
        By trajectory id.
    """
    kept = [trajectory for trajectory in trajectories if trajectory.length]
    found: dict[str, ReplayedTokens] = {}
    for start in range(0, len(kept), BATCH):
        part = kept[start : start + BATCH]
        scores = engine.score([[*t.prompt_ids.tolist(), *t.token_ids.tolist()] for t in part])
        for trajectory, scored in zip(part, scores, strict=True):
            logits = _logits(model, trajectory.prompt_ids, trajectory.token_ids)
            learner = _logprobs(logits, trajectory)
            own = (own_prompts or {}).get(trajectory.trajectory_id)
            if own is None or np.array_equal(own, trajectory.prompt_ids):
                template = np.zeros(trajectory.length)
            else:
                template = learner - _logprobs(_logits(model, own, trajectory.token_ids), trajectory)
            mass = log_kept_mass(logits, temperature=trajectory.temperature, top_p=top_p, top_k=top_k)
            found[trajectory.trajectory_id] = ReplayedTokens(
                engine=np.asarray(scored[-trajectory.length :], np.float64),
                learner=learner,
                log_kept=mass.cpu().numpy(),
                template=template,
            )
    return found


def own_prompts(tokenizer: PolicyTokenizer, groups: Sequence[Group]) -> dict[str, NDArray[np.int32]]:
    """Prompts rendered anew from their dataset rows, by trajectory id, for ``replay``."""
    rendered = tokenizer.encode_rows([group.item for group in groups])
    return {
        trajectory.trajectory_id: prompt
        for group, prompt in zip(groups, rendered, strict=True)
        for trajectory in group.trajectories
    }


def _logits(model: Any, prompt: NDArray[np.int32], completion: NDArray[np.int32]) -> Tensor:
    """Logits that predict each completion token, float32 [T, V]."""
    ids = torch.tensor([[*prompt.tolist(), *completion.tolist()]], device=model.device)
    logits: Tensor = model(ids).logits[0, len(prompt) - 1 : -1].float()
    return logits


def _logprobs(logits: Tensor, trajectory: Trajectory) -> NDArray[np.float64]:
    """Log-probability of each completion token at temperature 1, float64 [T]."""
    chosen = torch.as_tensor(trajectory.token_ids, dtype=torch.int64, device=logits.device).unsqueeze(1)
    found: NDArray[np.float64] = torch.log_softmax(logits.double(), dim=-1).gather(1, chosen).squeeze(1).cpu().numpy()
    return found
