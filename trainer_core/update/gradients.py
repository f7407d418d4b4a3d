"""The gradient of a minibatch on one rank: packing, scoring before the update, loss and backward pass.

trajectories ─► this rank's shard ─► packed micro-batches ─► log-probs ─► loss ─► gradient
"""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from trainer_core.episodes import Group, Trajectory
from trainer_core.methods.aggregation import Denominators, aggregate
from trainer_core.methods.losses.supervised import negative_log_likelihood
from trainer_core.methods.scope import scope_values
from trainer_core.spec import RunSpec
from trainer_core.spec.methods.corrections import RouterShiftWeighting
from trainer_core.spec.methods.critic import GAEAdvantage
from trainer_core.spec.methods.distillation import Distillation
from trainer_core.spec.methods.entropy import AdaptiveEntropyBonus, NoEntropyBonus
from trainer_core.update.auxiliary.teacher import scored_logits
from trainer_core.update.collectives import data_groups, data_rank, gather_tensors, largest
from trainer_core.update.hybrid.routing import RouteWatch
from trainer_core.update.model.entropies import token_entropies
from trainer_core.update.model.extra_outputs import (
    likeliest_divergence,
    own_candidates,
    routing_shift,
)
from trainer_core.update.model.policy import score
from trainer_core.update.objective import penalised, refine
from trainer_core.update.objective.entropy_bonus import entropy_bonus
from trainer_core.update.objective.guidance import asks_teacher_first, guide
from trainer_core.update.objective.passes import StepTokens
from trainer_core.update.objective.policy_objective import denominators, loss_share
from trainer_core.update.objective.returns import KnownTokens, Scored, estimate
from trainer_core.update.objective.value_objective import value_share
from trainer_core.update.optimization.rate import SampleWeights
from trainer_core.update.packed.packing import Packing, TokenBatch, pack
from trainer_core.update.packed.sharding import shards
from trainer_core.update.parts import LearnerModels
from trainer_core.update.recording import add_entropy, record
from trainer_core.update.totals import Totals


class GradientAccumulator:
    """Adds up gradients in the engines of ``parts``. Every method is collective over the ranks."""

    def __init__(
        self,
        parts: LearnerModels,
        packing: Packing,
        device: torch.device,
        between: Callable[[], None],
    ) -> None:
        """Work on ``parts``.

        Args:
            parts: the models.
            packing: how trajectories are cut into micro-batches.
            device: the device of the models.
            between: called before each micro-batch.
        """
        self._parts = parts
        self._packing = packing
        self._device = device
        self._between = between

    def prepare(self, part: list[Trajectory], mine: list[Trajectory] | None = None) -> refine.Minibatch:
        """Pack this rank's trajectories of a minibatch. All ranks get the same number of micro-batches.

        Args:
            part: the minibatch, the same on every rank.
            mine: this rank's trajectories; by default its shard, which is the same on ranks that split tokens.
        """
        mine = shards(part, data_groups())[data_rank()] if mine is None else mine
        batches = keep_in_step(pack(mine, self._packing), part, self._packing)
        return mine, [batch.to(self._device) for batch in batches], denominators(part)

    def again(
        self, parts: Sequence[list[Trajectory]], tokens: StepTokens
    ) -> tuple[list[refine.Minibatch], list[list[KnownTokens]]]:
        """The plan of a further pass, with the facts about its tokens from before the first update."""
        plan: list[refine.Minibatch] = []
        known: list[list[KnownTokens]] = []
        for part in parts:
            mine, batches, whole = self.prepare(part, tokens.own(part))
            restored = [tokens.restore(mine, batch) for batch in batches]
            plan.append((mine, [batch for batch, _ in restored], whole))
            known.append([one for _, one in restored])
        return plan, known

    @torch.no_grad()
    def study(
        self, plan: list[refine.Minibatch], groups: Sequence[Group], spec: RunSpec, totals: Totals
    ) -> tuple[list[refine.Minibatch], list[list[KnownTokens]]]:
        """Score everything needed before the first update. The returned plan has the advantages that depend on it."""
        advantage = spec.advantage
        critical = isinstance(advantage, GAEAdvantage)
        several = len(plan) * spec.schedule.epochs > 1
        adapts = isinstance(spec.entropy, AdaptiveEntropyBonus)
        asked = critical or adapts or penalised.pays(spec) or asks_teacher_first(spec)
        early = several or refine.needs_scores(spec) or asked
        seen = torch.zeros(2, dtype=torch.float64)
        shifts = any(isinstance(one, RouterShiftWeighting) for one in spec.corrections)
        known = [[KnownTokens() for _ in batches] for _, batches, _ in plan]
        for (mine, batches, _), looked in zip(plan, known, strict=True):
            for batch, one in zip(batches, looked, strict=True):
                self._between()
                if self._parts.reference is not None and spec.kl.coefficient > 0:
                    one.reference = self._parts.reference.score(batch)
                if early:
                    watch = RouteWatch() if shifts else None
                    one.before, entropies = score(self._parts.engine.forward, batch, watch)
                    if watch is not None and self._parts.experts is not None:
                        one.routes = watch.chosen(self._parts.experts)
                    record(mine, batch, one.before, entropies)
                    add_entropy(totals, batch, entropies)
                    counted = entropies[batch.mask].double()
                    seen += torch.stack([counted.sum(), counted.new_tensor(float(len(counted)))]).cpu()
                if asks_teacher_first(spec) and self._parts.teacher is not None:
                    one.teacher = self._parts.teacher.score(batch)
                if critical:
                    one.values = self._values(batch).detach()
        if adapts:
            total, count = torch.stack(gather_tensors(seen)).sum(0).tolist()
            self._parts.entropy.look(spec, total / count if count else None)
        if isinstance(advantage, GAEAdvantage):
            plan = _renewed(plan, estimate(advantage, spec, _scored(plan, known)))
        if penalised.pays(spec):
            plan = _renewed(plan, penalised.penalise(spec, groups, _scored(plan, known)))
        guide(spec, groups, _scored(plan, known))
        return refine.refine(plan, groups, spec), known

    def accumulate(
        self,
        spec: RunSpec,
        step: int,
        mine: list[Trajectory],
        batches: list[TokenBatch],
        known: list[KnownTokens],
        whole: Denominators,
        totals: Totals,
        version: int,
    ) -> SampleWeights:
        """Add the gradient of one minibatch, one micro-batch at a time. Returns its samples' importance weights.

        ``version`` is that of the weights before the step.
        """
        weights = SampleWeights()
        warming = spec.critic is not None and step <= spec.critic.warmup_steps
        if self._parts.head is not None:
            self._parts.head.detached = warming
        for batch, one in zip(batches, known, strict=True):
            self._between()
            own_logits = None
            balancer = self._parts.balancer
            if spec.policy.routing.replay and batch.routes is None:
                raise ValueError("policy.routing.replay needs trajectories with the engine's routes: these have none")
            watch = RouteWatch() if one.routes is not None or balancer is not None else None
            if spec.needs_logits:
                logprobs, own_logits, entropies = scored_logits(self._parts.engine.forward, batch, watch)
            else:
                logprobs, entropies = score(self._parts.engine.forward, batch, watch)
            current = logprobs.detach()
            if one.before is None:
                record(mine, batch, current, entropies)
                add_entropy(totals, batch, entropies)
            weights.add(batch, current)
            proximal = self._parts.proximal.logprobs(batch, current, one.before, version)
            loss = loss_share(
                spec,
                batch,
                logprobs,
                proximal,
                one.reference,
                whole,
                totals,
                before=one.before,
                divergence=likeliest_divergence(spec, batch, current, own_logits),
                log_shift=routing_shift(spec, one.routes, watch, current),
                candidates=own_candidates(spec, batch, own_logits, entropies),
            )
            if balancer is not None and watch is not None:
                loss = loss + balancer.observe(watch, batch, whole.tokens, totals)
            if spec.distillation is not None:
                loss = self._distil(spec, spec.distillation, batch, one, logprobs, own_logits, loss, whole, totals)
            if own_logits is not None and not isinstance(spec.entropy, NoEntropyBonus):
                weight, spread = self._parts.entropy.weight(spec), self._spread(own_logits, batch)
                loss = loss - entropy_bonus(spec, weight, batch, spread, whole, totals)
            if spec.critic is not None and one.returns is not None:
                value = value_share(spec, spec.critic, batch, self._values(batch), one, whole, totals)
                # While the critic warms up, the policy's gradient and step size are zero.
                loss = loss * (0.0 if warming else 1.0)
                if self._parts.critic is not None:
                    self._parts.critic.engine.backward(poisoned(value, loss))
                    loss = poisoned(loss, value)
                else:
                    loss = loss + value
            # Release these before the backward pass adds every layer's gradients; the graph frees its own as it runs.
            own_logits = watch = None
            # A loss that is not finite poisons the gradient, so that every rank refuses the same step.
            self._parts.engine.backward(poisoned(loss))
        return weights

    def _distil(
        self,
        spec: RunSpec,
        distillation: Distillation,
        batch: TokenBatch,
        known: KnownTokens,
        logprobs: Tensor,
        own_logits: Tensor | None,
        loss: Tensor,
        whole: Denominators,
        totals: Totals,
    ) -> Tensor:
        """The micro-batch's share of the loss with the pull to the teacher."""
        if self._parts.teacher is None:
            raise ValueError("distillation needs a teacher but the learner was started without one")
        if known.teacher is not None and known.before is not None and known.right is not None:
            values = scope_values(logprobs, known.before, known.teacher, known.right > 0)
        else:
            values = self._parts.teacher.divergence(distillation, batch, logprobs, own_logits)
        if known.guide is not None:
            values = values * known.guide
        pull = aggregate(spec.aggregation, values, batch.mask, batch.sequence, batch.prompt, whole)
        totals.add_share("actor/distill_loss", pull.detach())
        result = distillation.coefficient * pull + (0.0 if distillation.alone else loss)
        totals.add_share("actor/loss", result.detach() - loss.detach())
        return result

    def demonstrations(self, groups: Sequence[Group], spec: RunSpec) -> list[Trajectory]:
        return [] if spec.data.sft is None else self._parts.supervisor.samples(spec.data.sft, groups, spec)

    def imitate(self, spec: RunSpec, shown: list[Trajectory], totals: Totals, factor: float) -> None:
        """Add ``factor`` times the gradient of the supervised term on ``shown``, its mean over their tokens."""
        if spec.data.sft is None or not shown:
            return
        _, batches, whole = self.prepare(shown)
        for batch in batches:
            values = negative_log_likelihood(score(self._parts.engine.forward, batch)[0], batch.mask)
            share = values.sum() / whole.tokens
            # Sums are divided by ``factor`` when the step's metrics are computed.
            totals.add_share("actor/sft_loss", share.detach() * factor)
            self._parts.engine.backward(poisoned(spec.data.sft.coefficient * factor * share))

    def _spread(self, own_logits: Tensor, batch: TokenBatch) -> Tensor:
        """Entropies of the predicted tokens, [M] with gradient."""
        return batch.whole(token_entropies(own_logits, batch.own(batch.temperature)))

    def _values(self, batch: TokenBatch) -> Tensor:
        """The critic's values. A value head's are from the policy's last forward pass, which was on ``batch``."""
        if self._parts.head is not None:
            return self._parts.head.take(batch)
        if self._parts.critic is None:
            raise ValueError("the advantages need a critic but the learner was started without one")
        return self._parts.critic.values(batch)


def keep_in_step(batches: list[TokenBatch], part: Sequence[Trajectory], packing: Packing) -> list[TokenBatch]:
    """The micro-batches of this rank, and short ones without loss until all ranks have the same number. Collective.

    DeepSpeed's collectives need the ranks in step. ``part`` is the whole minibatch, the same on every rank.
    """
    if data_groups() == 1 or len(batches) == (most := largest(len(batches))):
        return batches
    idle = pack([min(part, key=lambda t: len(t.prompt_ids) + t.length)], packing)[0].without_loss()
    return batches + [idle] * (most - len(batches))


def _scored(plan: Sequence[refine.Minibatch], known: Sequence[list[KnownTokens]]) -> list[Scored]:
    return [(mine, batches, looked) for (mine, batches, _), looked in zip(plan, known, strict=True)]


def _renewed(plan: Sequence[refine.Minibatch], batches: Sequence[list[TokenBatch]]) -> list[refine.Minibatch]:
    """The plan with other micro-batches of the same trajectories."""
    return [(mine, own, whole) for (mine, _, whole), own in zip(plan, batches, strict=True)]


def poisoned(loss: Tensor, *others: Tensor) -> Tensor:
    """The loss, or NaN with its graph if it or one of the others is not finite."""
    finite = all(bool(torch.isfinite(one)) for one in (loss, *others))
    return loss if finite else loss * math.nan
