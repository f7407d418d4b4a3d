"""The learner's side of a frozen-weight rescoring: recorded tokens scored again with the current weights."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from trainer_core.diagnosis.truncation import log_kept_mass
from trainer_core.episodes import Trajectory
from trainer_core.update.collectives import ALONE, ContextGroup
from trainer_core.update.model.policy import logits
from trainer_core.update.packed.packing import Packing, TokenBatch, pack

ROWS = 256
"""Positions whose distributions are processed together: they are held in float64 over the whole vocabulary."""


@dataclass(frozen=True, slots=True)
class LearnerSide:
    """One trajectory. Arrays have shape [T], one entry per token; 0 for forced tokens."""

    logprobs: NDArray[np.float64]
    """Log-probabilities at temperature 1, over the full vocabulary."""
    log_kept: NDArray[np.float64]
    """Natural log of the probability mass that top-k and top-p keep at the trajectory's own temperature."""
    template: NDArray[np.float64]
    """``logprobs`` minus those after the prompt as the learner's own template renders it."""


@torch.no_grad()
def learner_side(
    model: nn.Module,
    trajectories: Sequence[Trajectory],
    own_prompts: Mapping[str, NDArray[np.int32]],
    *,
    top_p: float,
    top_k: int,
    device: torch.device,
    context: ContextGroup = ALONE,
) -> dict[str, LearnerSide]:
    """Score trajectories again.

    Args:
        model: the policy, or the engine around it.
        trajectories: the trajectories that take part in the loss.
        own_prompts: by trajectory id, prompts as the learner's own template renders them; without an entry, the
            recorded prompt is used.
        top_p: the top-p of the sampling, 1 for none.
        top_k: the top-k of the sampling, 0 for none.
        device: the device of the policy.
        context: the ranks that split the tokens of each trajectory.

    Returns:
        By trajectory id.
    """
    found = {}
    for trajectory in trajectories:
        batch, scores = _forward(model, trajectory, device, context)
        logprobs, kept = _look(scores, batch, trajectory.temperature, top_p, top_k)
        own = own_prompts.get(trajectory.trajectory_id)
        template = torch.zeros_like(logprobs)
        if own is not None and not np.array_equal(own, trajectory.prompt_ids):
            other, scores = _forward(model, replace(trajectory, prompt_ids=own, routes=None), device, context)
            template = logprobs - _look(scores, other, 1.0, 1.0, 0)[0]
        places = batch.offset.cpu().numpy()
        columns = (_spread(values, places, trajectory.length) for values in (logprobs, kept, template))
        found[trajectory.trajectory_id] = LearnerSide(*columns)
    return found


def _forward(
    model: nn.Module, trajectory: Trajectory, device: torch.device, context: ContextGroup
) -> tuple[TokenBatch, Tensor]:
    packing = Packing(len(trajectory.prompt_ids) + trajectory.length, context=context)
    batch = pack([trajectory], packing)[0].to(device)
    return batch, logits(model, batch)


def _look(scores: Tensor, batch: TokenBatch, temperature: float, top_p: float, top_k: int) -> tuple[Tensor, Tensor]:
    """Log-probabilities at temperature 1 and the log of the kept mass at ``temperature``, float64 [M] each."""
    logprobs, kept = [], []
    for part, targets in zip(scores.split(ROWS), batch.own(batch.targets).split(ROWS), strict=True):
        wide = part.double()
        logprobs.append(wide.log_softmax(dim=-1).gather(1, targets.unsqueeze(1)).squeeze(1))
        kept.append(log_kept_mass(wide, temperature=temperature, top_p=top_p, top_k=top_k))
    return batch.whole(torch.cat(logprobs)), batch.whole(torch.cat(kept))


def _spread(values: Tensor, places: NDArray[np.int64], length: int) -> NDArray[np.float64]:
    whole = np.zeros(length)
    whole[places] = values.cpu().numpy()
    return whole
