"""The gradient of a minibatch of rows on one rank: packing, loss and backward pass, without advantages or ratios.

examples ─► this rank's shard ─► packed micro-batches ─► log-probs ─► loss of the objective ─► gradient
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from trainer_core.episodes import Group, Trajectory
from trainer_core.spec import RunSpec
from trainer_core.spec.objective import Examples, Preference, Supervised
from trainer_core.update.collectives import data_groups, data_rank
from trainer_core.update.gradients import keep_in_step, poisoned
from trainer_core.update.hybrid.routing import RouteWatch
from trainer_core.update.model.noise import noisy_embeddings
from trainer_core.update.model.policy import score
from trainer_core.update.objective.pairs import add_held_out_pairs, pair_share
from trainer_core.update.objective.taught import add_held_out, taught_share
from trainer_core.update.packed.packing import Packing, TokenBatch, pack, trains
from trainer_core.update.packed.sharding import group_parts, whole_shards
from trainer_core.update.parts import LearnerModels
from trainer_core.update.totals import Totals


@dataclass(frozen=True, slots=True)
class ExampleShare:
    """This rank's part of a minibatch."""

    mine: list[Trajectory]
    """Its trajectories."""
    sources: list[str]
    """Name of each one's source."""
    batches: list[TokenBatch]
    """Its micro-batches: as many as on every other rank."""
    tokens: int
    """Tokens of the whole minibatch that teach."""
    units: int
    """Examples or pairs of the whole minibatch."""


class ExampleGradients:
    """Adds up gradients of rows in the engine of ``parts``. Every method is collective over the ranks."""

    def __init__(
        self, parts: LearnerModels, packing: Packing, device: torch.device, between: Callable[[], None]
    ) -> None:
        """Work on ``parts``.

        Args:
            parts: the models.
            packing: how examples are cut into micro-batches.
            device: the device of the models.
            between: called before each micro-batch.
        """
        self._parts = parts
        self._packing = packing
        self._device = device
        self._between = between

    def plan(self, groups: Sequence[Group], spec: RunSpec, totals: Totals) -> list[ExampleShare]:
        """The minibatches of a step; those in which nothing teaches are left out. Adds ``examples/*`` to ``totals``.

        Raises:
            ValueError: an example or pair does not fit into a micro-batch, or a group is not a pair.
        """
        found = (units_of(part, spec.examples) for part in group_parts(groups, spec.schedule.updates_per_step))
        plan = [self._prepare(units) for units in found if units]
        for part in plan:
            tokens = sum(len(one.prompt_ids) + one.length for one in part.mine)
            taught = sum(int(one.sampled.sum()) for one in part.mine)
            totals.add_share("examples/tokens", tokens)
            totals.add_metrics({"examples/taught_share": taught / max(1, tokens)}, tokens)
        return plan

    def accumulate(self, spec: RunSpec, step: int, part: ExampleShare, totals: Totals) -> None:
        """Add the gradient of one minibatch, one micro-batch at a time."""
        balancer, objective = self._parts.balancer, spec.examples
        for batch, reference in zip(part.batches, self._references(part, spec), strict=True):
            self._between()
            watch = None if balancer is None else RouteWatch()
            logprobs = self._scored(spec, step, part, batch, watch)
            if isinstance(objective, Preference):
                loss = pair_share(objective, batch, logprobs, reference, part.units, totals)
            else:
                loss = taught_share(batch, logprobs, part.sources, part.tokens, totals)
            totals.add_share("actor/loss", loss.detach())
            if balancer is not None and watch is not None:
                loss = loss + balancer.observe(watch, batch, part.tokens, totals)
            watch = None
            self._parts.engine.backward(poisoned(loss))

    @torch.no_grad()
    def held_out(self, groups: Sequence[Group], spec: RunSpec, totals: Totals) -> None:
        """Add ``eval/<source>/*`` of held-out rows to ``totals``.

        Raises:
            ValueError: an example or pair does not fit into a micro-batch, or a group is not a pair.
        """
        units = units_of(groups, spec.examples)
        if not units:
            return
        part = self._prepare(units)
        objective = spec.examples
        for batch, reference in zip(part.batches, self._references(part, spec), strict=True):
            self._between()
            logprobs, _ = score(self._parts.engine.forward, batch)
            if isinstance(objective, Preference):
                add_held_out_pairs(totals, objective, batch, logprobs, reference, part.sources)
            else:
                add_held_out(totals, batch, logprobs, part.sources)

    def _scored(
        self, spec: RunSpec, step: int, part: ExampleShare, batch: TokenBatch, watch: RouteWatch | None
    ) -> Tensor:
        """Log-probabilities of a micro-batch's targets, [M] with gradient, under the noise of training."""
        strength = spec.examples.noise if isinstance(spec.examples, Supervised) else 0.0
        noise = noisy_embeddings(self._parts.model, batch, part.mine, strength, seed=spec.schedule.seed, step=step)
        with noise:
            return score(self._parts.engine.forward, batch, watch)[0]

    def _references(self, part: ExampleShare, spec: RunSpec) -> list[Tensor | None]:
        """Log-probabilities of each micro-batch's targets under the reference policy, [M]; None if none is needed.

        All micro-batches are scored before the first backward pass, as the policy's engine may be what scores them.
        """
        policy = self._parts.reference
        if not isinstance(spec.examples, Preference) or not spec.examples.has_reference or policy is None:
            return [None] * len(part.batches)
        found: list[Tensor | None] = []
        for batch in part.batches:
            self._between()
            found.append(policy.score(batch))
        return found

    def _prepare(self, units: Sequence[Group]) -> ExampleShare:
        """Pack this rank's examples or pairs of a minibatch. All ranks get the same number of micro-batches."""
        own = whole_shards(units, data_groups())[data_rank()]
        mine = [one for unit in own for one in unit.trajectories]
        everybody = [one for unit in units for one in unit.trajectories]
        size = len(units[0].trajectories)
        together = [range(first, first + size) for first in range(0, len(mine), size)]
        batches = keep_in_step(pack(mine, self._packing, together), everybody, self._packing)
        return ExampleShare(
            mine,
            [unit.source for unit in own for _ in unit.trajectories],
            [batch.to(self._device) for batch in batches],
            sum(int(one.sampled.sum()) for one in everybody),
            len(units),
        )


def units_of(groups: Sequence[Group], examples: Examples | None) -> list[Group]:
    """Units of learning: each example, or each pair as [better, worse]. Those that teach nothing are left out.

    Raises:
        ValueError: the run does not learn from rows, or a group of pairs has another number of completions.
    """
    if examples is None:
        raise ValueError("the objective rl learns from rewards, not from rows")
    if not isinstance(examples, Preference):
        return [replace(group, trajectories=[one]) for group in groups for one in group.trajectories if trains(one)]
    for group in groups:
        if len(group.trajectories) != 2:
            raise ValueError(f"the pair {group.group_id} has {len(group.trajectories)} completions: it needs two")
    return [group for group in groups if all(trains(one) for one in group.trajectories)]
