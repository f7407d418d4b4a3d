"""Packing without padding: trajectories become micro-batches of packed tokens.

Samples of one prompt share it, and any longer prefix that they have in common: the micro-batch holds it once, see
``prefixes``. The last token of a completion predicts nothing and is left out. Only positions that predict a sampled
token get logits.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from trainer_core.episodes import Trajectory
from trainer_core.update.collectives import ALONE, ContextGroup
from trainer_core.update.device import move
from trainer_core.update.packed.context import TokenPart, cut_tokens
from trainer_core.update.packed.prefixes import Path, Stretch, input_ids, paths
from trainer_core.update.packed.segment import Segment, Span
from trainer_core.update.packed.segments import Layout, build_layout

Member = tuple[int, Path]
"""A trajectory of a micro-batch: its index, and the path of its tokens."""
Unit = tuple[int, list[Member]]
"""Trajectories that are not split: their packed tokens, and the members."""


@dataclass(frozen=True, slots=True)
class TokenBatch:
    """One micro-batch: N packed input tokens, M predicted (sampled, not excluded) completion tokens."""

    input_ids: Tensor
    """int64 [N]."""
    position_ids: Tensor
    """Position of each token in its own sequence, int64 [N]."""
    layout: Layout
    """Layout that defines which token attends to which."""
    rows: Tensor
    """Packed token whose logits predict the target, int64 [M]; sequences that part after a token share it."""
    targets: Tensor
    """Predicted token, int64 [M]."""
    sequence: Tensor
    """Index into the list given to ``pack``, int64 [M]."""
    offset: Tensor
    """Index of the target in its completion, int64 [M]."""
    mask: Tensor
    """bool [M]: takes part in the loss; all true except in a batch that only keeps ranks in step."""
    behaviour_logprobs: Tensor
    """float32 [M]."""
    advantages: Tensor
    """float32 [M]."""
    temperature: Tensor
    """Sampling temperature, float32 [M]."""
    versions: Tensor
    """Weight version that sampled the target, int64 [M]."""
    prompt: Tensor
    """Key of the target's prompt, equal on all ranks, int64 [M]; see ``prompt_key``."""
    top_ids: Tensor | None = None
    """The engine's likeliest tokens at the target's position, int64 [M, K], if all trajectories have them."""
    top_logprobs: Tensor | None = None
    """Log-probabilities of ``top_ids`` in the engine, float32 [M, K]."""
    routes: Tensor | None = None
    """The experts that the engine sent each packed token to, int64 [N, L, K], if all trajectories have them."""
    part: TokenPart | None = None
    """Tokens that this rank computes if several ranks split them; None if it computes all."""

    @property
    def num_tokens(self) -> int:
        """Packed input tokens, N."""
        return len(self.input_ids)

    def to(self, device: torch.device) -> "TokenBatch":
        """The batch on ``device``; the same object if it is already there."""
        if self.input_ids.device == device:
            return self
        values: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        moved: dict[str, Any] = {
            name: value.to(device) if isinstance(value, Layout | TokenPart) else move(value, device)
            for name, value in values.items()
            if value is not None
        }
        return TokenBatch(**moved)

    def inputs(self) -> dict[str, Any]:
        """Arguments for a forward pass through a policy's layers: this rank's n tokens, [1, n], and their attention."""
        if self.part is None:
            ids, positions = self.input_ids, self.position_ids
            return {"input_ids": ids.unsqueeze(0), "position_ids": positions.unsqueeze(0), "layout": self.layout}
        ids, positions = (one.index_select(0, self.part.tokens) for one in (self.input_ids, self.position_ids))
        return {
            "input_ids": ids.unsqueeze(0),
            "position_ids": positions.unsqueeze(0),
            "layout": self.layout,
            "context_group": self.part.context,
        }

    @property
    def own_rows(self) -> Tensor:
        """``rows`` among the tokens of ``inputs``, int64 [m]."""
        return self.rows if self.part is None else self.part.rows

    @property
    def own_routes(self) -> Tensor | None:
        """``routes`` of the tokens of ``inputs``, int64 [n, L, K]."""
        return self.routes if self.part is None or self.routes is None else self.routes[self.part.tokens]

    def own(self, values: Tensor) -> Tensor:
        """The part [m, ...] of the values of predicted tokens [M, ...] whose logits this rank computes."""
        return values if self.part is None else values.index_select(0, self.part.predicted)

    def whole(self, values: Tensor) -> Tensor:
        """Values of all predicted tokens, [M, ...], with gradient, from each rank's own values, [m, ...].

        Collective over the ranks that split the micro-batch.
        """
        return values if self.part is None else self.part.whole(values)

    def without_loss(self) -> "TokenBatch":
        """The same tokens, none of which takes part in the loss."""
        return replace(self, mask=torch.zeros_like(self.mask))


@dataclass(frozen=True, slots=True)
class Packing:
    """The split of trajectories into micro-batches. Up to rounding, the update does not depend on it."""

    max_tokens: int
    """Maximum number of packed tokens in one micro-batch."""
    share_prompts: bool = True
    """Whether samples of one prompt share it, and their longer common prefixes."""
    alone: bool = False
    """Whether each trajectory has its own micro-batch. Then its log-probabilities do not depend on any other, to the
    last bit, because no tensor's shape does."""
    exact: bool = False
    """Whether the attention computes each segment separately, so that its tensors' shapes do not depend on others: see
    ``update/model/invariance.py``. Then only prompts are shared."""
    context: ContextGroup = ALONE
    """Ranks that split the tokens of each micro-batch. All of them pack the same trajectories."""


def pack(
    trajectories: Sequence[Trajectory], packing: Packing | int, together: Sequence[Sequence[int]] | None = None
) -> list[TokenBatch]:
    """Split trajectories into micro-batches of at most the given number of packed tokens, long ones first.

    Excluded trajectories and those without a sampled token are left out.

    Args:
        trajectories: in any order.
        packing: how to split; a plain number is the budget of one micro-batch.
        together: sets of indices that must not be split, such as a pair's. Others are left out, and only trajectories
            of one set share prefixes. None: micro-batches are composed freely.

    Raises:
        ValueError: a single trajectory or set exceeds the budget, or has no prompt.
    """
    how = Packing(packing) if isinstance(packing, int) else packing
    max_tokens = how.max_tokens
    if together is None:
        training = [index for index, trajectory in enumerate(trajectories) if trains(trajectory)]
        units = [
            unit for family in _families(trajectories, training, how) for unit in _units(trajectories, family, how)
        ]
    else:
        units = [_joint_unit(trajectories, members, how) for members in together]
    units.sort(key=lambda unit: -unit[0])
    if how.alone:
        return [_batch(trajectories, members, how) for _, members in units]
    batches: list[list[Member]] = []
    space: list[int] = []
    for size, members in units:
        # First-fit decreasing: the first batch that still has room.
        home = next((index for index, room in enumerate(space) if room >= size), None)
        if home is None:
            batches.append(list(members))
            space.append(max_tokens - size)
        else:
            batches[home] += members
            space[home] -= size
    return [_batch(trajectories, members, how) for members in batches]


def _families(trajectories: Sequence[Trajectory], indices: Sequence[int], how: Packing) -> list[list[int]]:
    """Trajectories that share their prompts."""
    shared = how.share_prompts and not how.alone
    families: dict[bytes | int, list[int]] = {}
    for index in indices:
        families.setdefault(_prompt_state(trajectories[index]) if shared else index, []).append(index)
    return list(families.values())


def _prompt_state(trajectory: Trajectory) -> bytes:
    """State that samples sharing a prompt must have in common: its tokens, and the experts that these were sent to."""
    prompt = trajectory.prompt_ids
    return prompt.tobytes() + (b"" if trajectory.routes is None else trajectory.routes[: len(prompt)].tobytes())


def trains(trajectory: Trajectory) -> bool:
    """Whether the trajectory takes part in the loss."""
    return trajectory.excluded is None and bool(trajectory.sampled.any())


def prompt_key(trajectory: Trajectory) -> int:
    """A signed 64-bit number that is the same for equal prompts. It identifies the samples that belong together."""
    digest = hashlib.blake2b(trajectory.prompt_ids.tobytes(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)


def _advantages(trajectory: Trajectory) -> NDArray[np.float32]:
    if trajectory.token_advantages is not None:
        return trajectory.token_advantages
    return np.full(trajectory.length, trajectory.advantage, dtype=np.float32)


def _units(trajectories: Sequence[Trajectory], family: list[int], how: Packing) -> list[Unit]:
    """Split the samples of one prompt into pieces that fit the budget: (packed size, members)."""
    if len(trajectories[family[0]].prompt_ids) == 0:
        raise ValueError(f"trajectory {trajectories[family[0]].trajectory_id} has no prompt")
    units: list[Unit] = []
    max_tokens = how.max_tokens
    size, held = max_tokens + 1, set[Stretch]()
    found = paths(trajectories, family, prompts_only=how.exact)
    for index, path in sorted(found.items(), key=lambda member: -member[1][-1].stop):
        if (whole := sum(map(len, path))) > max_tokens:
            raise ValueError(
                f"trajectory {trajectories[index].trajectory_id} has {whole} tokens, more than the "
                f"{max_tokens} of a micro-batch"
            )
        own = sum(len(stretch) for stretch in path if stretch not in held)
        if size + own > max_tokens:
            units.append((whole, [(index, path)]))
            size, held = whole, set(path)
        else:
            size += own
            held.update(path)
            units[-1] = (size, [*units[-1][1], (index, path)])
    return units


def _joint_unit(trajectories: Sequence[Trajectory], members: Sequence[int], how: Packing) -> Unit:
    """A set of trajectories as one piece."""
    families = _families(trajectories, members, how)
    pieces = [unit for family in families for unit in _units(trajectories, family, how)]
    size = sum(tokens for tokens, _ in pieces)
    if size > how.max_tokens:
        names = ", ".join(trajectories[index].trajectory_id for index in members)
        raise ValueError(
            f"trajectories {names} have {size} tokens together, more than the {how.max_tokens} of a micro-batch"
        )
    return size, [member for _, found in pieces for member in found]


def _batch(trajectories: Sequence[Trajectory], members: Sequence[Member], how: Packing) -> TokenBatch:
    ids: list[NDArray[np.int32]] = []
    positions: list[NDArray[np.int64]] = []
    segments: list[Segment] = []
    predicted: list[tuple[NDArray[np.int64], NDArray[np.int64], int]] = []
    routes: list[NDArray[Any] | None] = []
    packed: dict[Stretch, Span] = {}
    filled = 0
    for index, path in members:
        for depth, stretch in enumerate(path):
            if stretch in packed:
                continue
            owner, here = trajectories[stretch.owner], slice(stretch.start, stretch.stop)
            packed[stretch] = (filled, filled + len(stretch))
            ids.append(input_ids(owner)[here])
            positions.append(np.arange(stretch.start, stretch.stop))
            segments.append(Segment(*packed[stretch], tuple(packed[before] for before in path[:depth])))
            routes.append(None if owner.routes is None else owner.routes[here])
            filled += len(stretch)
        trajectory = trajectories[index]
        offset = np.flatnonzero(trajectory.sampled)
        # Each token is predicted by the token before it; position j of the sequence is entry j.
        rows = np.concatenate([np.arange(*packed[stretch]) for stretch in path])
        predicted.append((rows[len(trajectory.prompt_ids) + offset - 1], offset, index))
    chosen = [(trajectories[index], offset) for _, offset, index in predicted]
    counts = [len(offset) for _, offset, _ in predicted]

    def per_token(name: str) -> Tensor:
        return torch.from_numpy(np.concatenate([getattr(trajectory, name)[offset] for trajectory, offset in chosen]))

    def per_sequence(values: Sequence[float | int], dtype: type) -> Tensor:
        return torch.from_numpy(np.repeat(np.asarray(values, dtype=dtype), counts))

    told = all(trajectory.top_ids is not None for trajectory, _ in chosen)
    predicting = torch.from_numpy(np.concatenate([rows for rows, _, _ in predicted]))
    return TokenBatch(
        input_ids=torch.from_numpy(np.concatenate(ids).astype(np.int64)),
        position_ids=torch.from_numpy(np.concatenate(positions)),
        layout=build_layout(segments, exact=how.exact),
        rows=predicting,
        targets=per_token("token_ids").long(),
        sequence=per_sequence([index for _, _, index in predicted], np.int64),
        offset=torch.from_numpy(np.concatenate([offset for _, offset, _ in predicted])),
        mask=torch.ones(sum(counts), dtype=torch.bool),
        behaviour_logprobs=per_token("behaviour_logprobs").float(),
        advantages=torch.from_numpy(np.concatenate([_advantages(trajectory)[offset] for trajectory, offset in chosen])),
        temperature=per_sequence([trajectory.temperature for trajectory, _ in chosen], np.float32),
        versions=per_token("versions").long(),
        prompt=per_sequence([prompt_key(trajectory) for trajectory, _ in chosen], np.int64),
        top_ids=per_token("top_ids").long() if told else None,
        top_logprobs=per_token("top_logprobs").float() if told else None,
        routes=_joined(routes),
        part=cut_tokens(how.context, sum(len(part) for part in ids), predicting),
    )


def _joined(routes: Sequence[NDArray[Any] | None]) -> Tensor | None:
    known = [one for one in routes if one is not None]
    return torch.from_numpy(np.concatenate(known).astype(np.int64)) if len(known) == len(routes) else None
