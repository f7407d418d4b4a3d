"""Further passes over a step's batch (PPO's epochs): other minibatches of the same groups.

Everything computed before the step's first update (log-probabilities, values, advantages, routes) belongs to tokens. It
is stored by token here, so that micro-batches with a different split find their values without another forward pass.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from trainer_core.episodes import Group, Trajectory
from trainer_core.spec.operation.schedule import Schedule
from trainer_core.update.hybrid.routing import Routes
from trainer_core.update.objective.refine import Minibatch
from trainer_core.update.objective.returns import KnownTokens
from trainer_core.update.packed.packing import TokenBatch
from trainer_core.update.packed.sharding import minibatches

KNOWN = ("before", "reference", "values", "returns", "teacher", "guide", "right")
"""Facts of ``KnownTokens`` that are one number per token."""
Columns = dict[str, Tensor]
"""Values of tokens by name, [M, ...] each."""


def cuts(groups: Sequence[Group], schedule: Schedule, step: int) -> list[list[list[Trajectory]]]:
    """The minibatches of each pass of a step. The first takes the groups in order, the others shuffle them.

    The order depends only on the run's seed, the step and the pass, so every rank and every resumed run has the same.
    """
    return [
        minibatches(_order(groups, schedule.seed, step, epoch), schedule.updates_per_step)
        for epoch in range(schedule.epochs)
    ]


def _order(groups: Sequence[Group], seed: int, step: int, epoch: int) -> Sequence[Group]:
    if epoch == 0:
        return groups
    return [groups[index] for index in np.random.default_rng((seed, step, epoch)).permutation(len(groups)).tolist()]


class StepTokens:
    """Known facts about this rank's tokens of a step."""

    def __init__(self, plan: Sequence[Minibatch], known: Sequence[Sequence[KnownTokens]]) -> None:
        """Collect the values in the first pass's micro-batches, including their advantages."""
        self._first_row: dict[int, int] = {}
        rows = 0
        for trajectory in (trajectory for mine, _, _ in plan for trajectory in mine):
            self._first_row[id(trajectory)] = rows
            rows += trajectory.length
        self._columns: Columns = {}
        for (mine, batches, _), looked in zip(plan, known, strict=True):
            for batch, one in zip(batches, looked, strict=True):
                for name, values in _columns(batch, one):
                    if name not in self._columns:
                        self._columns[name] = values.new_zeros((rows, *values.shape[1:]))
                    if bool(batch.mask.any()):
                        self._columns[name][self._rows(mine, batch)] = values

    def own(self, part: Sequence[Trajectory]) -> list[Trajectory]:
        """This rank's trajectories of a minibatch. A trajectory stays with the rank that scored it."""
        return [trajectory for trajectory in part if id(trajectory) in self._first_row]

    def restore(self, mine: Sequence[Trajectory], batch: TokenBatch) -> tuple[TokenBatch, KnownTokens]:
        """The micro-batch, packed from ``mine``, with its advantages, and the other known facts about its tokens."""
        if bool(batch.mask.any()):
            rows = self._rows(mine, batch)
            found = {name: values[rows] for name, values in self._columns.items()}
        else:
            # It only keeps the ranks in step.
            found = {
                name: values.new_zeros((len(batch.mask), *values.shape[1:])) for name, values in self._columns.items()
            }
        routes = Routes(found["experts"], found["route_logprobs"]) if "experts" in found else None
        known = KnownTokens(**{name: found.get(name) for name in KNOWN}, routes=routes)
        return replace(batch, advantages=found["advantages"]), known

    def _rows(self, mine: Sequence[Trajectory], batch: TokenBatch) -> Tensor:
        """The rows [M] of the micro-batch's tokens."""
        first = torch.tensor([self._first_row[id(trajectory)] for trajectory in mine], dtype=torch.int64)
        return first.to(batch.sequence.device)[batch.sequence] + batch.offset


def _columns(batch: TokenBatch, known: KnownTokens) -> Iterator[tuple[str, Tensor]]:
    yield "advantages", batch.advantages
    for name in KNOWN:
        values = getattr(known, name)
        if values is not None:
            yield name, values
    if known.routes is not None:
        yield "experts", known.routes.experts
        yield "route_logprobs", known.routes.logprobs
