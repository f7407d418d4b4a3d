"""The learner: one optimizer step after another on groups of trajectories. One object per DeepSpeed rank.

groups ─► minibatches ─► this rank's shard ─► packed micro-batches ─► log-probs ─► loss ─► gradient ─┐
             ▲                                                                                       ▼
             └───────────── once per minibatch, and per pass over the batch ◄─────── clip, AdamW, next
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from trainer_core.episodes import Group, Trajectory
from trainer_core.spec import RunSpec
from trainer_core.update.collectives import gather_values_from_ranks, share_context, tells
from trainer_core.update.device import claim, settle, take_peak
from trainer_core.update.examples import ExampleGradients
from trainer_core.update.formats.perturbation import perturbed
from trainer_core.update.formats.precision import DTYPES, as_engine, rounds_as_engine
from trainer_core.update.formats.quantise import Scales
from trainer_core.update.formats.travel import travel_type
from trainer_core.update.gradients import GradientAccumulator
from trainer_core.update.model.layers import call_between_layers
from trainer_core.update.model.naming import as_in_files
from trainer_core.update.model.policy import score
from trainer_core.update.objective.passes import StepTokens, cuts
from trainer_core.update.objective.refine import Minibatch
from trainer_core.update.objective.returns import KnownTokens
from trainer_core.update.objective.value_objective import explain
from trainer_core.update.optimization.engine import init_process_group
from trainer_core.update.optimization.optimizer import learning_rate
from trainer_core.update.optimization.rate import SampleWeights
from trainer_core.update.packed.packing import Packing, TokenBatch, pack
from trainer_core.update.packed.sharding import minibatches
from trainer_core.update.parts import LearnerModels
from trainer_core.update.recording import as_trajectory, record
from trainer_core.update.rescoring import LearnerSide, learner_side
from trainer_core.update.saving import checkpoint
from trainer_core.update.saving.integrity import CheckpointError
from trainer_core.update.saving.saved import SavedCheckpoint
from trainer_core.update.streaming import UNIT, CannotStream, StreamedStep, refusal
from trainer_core.update.totals import Totals

SUMS = ("actor/loss", "actor/pg_loss", "actor/distill_loss", "actor/sft_loss", "critic/vf_loss", "moe/aux_loss")
"""Metrics that are sums of shares of a minibatch."""
PER_PASS = ("actor/pg_clipfrac", "actor/ppo_kl")
"""Metrics that are also reported for each pass over the batch if there are several."""
GIB = 1 << 30


class NonFiniteUpdate(RuntimeError):
    """A loss or gradient was NaN or infinite, so the optimizer step was not taken."""


class TornLearner(RuntimeError):
    """An earlier update failed half-way; the learner must load a checkpoint before it is used again."""


class Learner:
    """One rank of the learner. Every public method is collective over the ranks.

    An update returns only after the device has finished it, so that timing the call measures the work.
    """

    def __init__(
        self,
        model_dir: str | Path,
        spec: RunSpec,
        *,
        rank: int = 0,
        world_size: int = 1,
        init_method: str | None = None,
        device: str = "cpu",
        teacher: str | Path | None = None,
        reference: str | Path | None = None,
        between: Callable[[], None] | None = None,
    ) -> None:
        """Load the policy and the other models that the spec needs: reference policy, critic, proximal policy.

        Args:
            model_dir: the policy to start from, a Hugging Face folder.
            spec: ZeRO stage, AdamW's constants, critic, proximal policy and the split into micro-batches are read here,
                once.
            rank: the rank of this process.
            world_size: number of ranks.
            init_method: such as ``tcp://127.0.0.1:<port>``; needed with more than one rank.
            device: the device of the policy.
            teacher: folder of the policy that ``spec.distillation`` names.
            reference: folder of the reference policy, of ``spec.kl`` or of a preference loss; None for ``model_dir``.
            between: called before each micro-batch, and between the policy's layers.

        Raises:
            ValueError: the spec requires something that this policy, the teacher or the reference does not support.
        """
        self._device = claim(device, rank)
        init_process_group(rank, world_size, init_method, self._device)
        context = share_context(spec.parallelism.context_parallel_size, self._device)
        self.rank = rank
        self.tells = tells()
        """Whether what this rank writes into trajectories counts: ranks that split tokens write the same."""
        self.version = 0
        """Updates of the policy: steps that have moved its weights."""
        self._model_dir = Path(model_dir)
        asked, frozen = (None if folder is None else Path(folder) for folder in (teacher, reference))
        self._parts = LearnerModels(self._model_dir, spec, world_size, self._device, asked, frozen)
        cut, packs = spec.parallelism, self._parts.invariant
        alone = cut.batch_invariant and not packs
        budget = cut.max_tokens_per_microbatch * context.size
        self._packing = Packing(budget, cut.share_prompts, alone=alone, exact=packs, context=context)
        self._engine = self._parts.engine
        if between is not None:
            call_between_layers(self._parts.model, between)
        self._served = spec.rollout.engine
        shared = (self._parts, self._packing, self._device, between or (lambda: None))
        self._gradients, self._examples = GradientAccumulator(*shared), ExampleGradients(*shared)
        self._torn: str | None = None
        quantization = spec.rollout.engine.quantization
        self.engine_fp8: Scales | None = None if quantization is None else quantization.scales
        """Scales of the matrices that the rollout engines hold in FP8; None if they hold none."""
        self._streamed: StreamedStep | None = None

    @property
    def vocab_size(self) -> int:
        """Size of the policy's vocabulary."""
        return self._parts.vocab_size

    @property
    def served_whole(self) -> bool:
        """Whether engines load every version as a whole. They do for experts and FP8, whose weights they repack."""
        return self.engine_fp8 is not None or self._parts.joint

    def update(self, groups: Sequence[Group], spec: RunSpec, step: int) -> dict[str, float]:
        """Learn from one step's groups; ``version`` counts it if the policy has moved.

        Writes ``learner_logprobs`` and ``entropy`` (as they were before the first update; 0 for forced tokens) into the
        trajectories of this rank that take part in the loss, and with a critic also ``token_advantages``. If none take
        part, only the supervised term trains. Without a supervised term there is no optimizer step, ``version`` stays,
        and the metrics hold only the learning rate.

        If the objective learns from rows, a group is one example, or a pair as [better, worse]; ``sampled`` marks the
        tokens that teach. Nothing is written into trajectories.

        Args:
            groups: all groups of the step, on every rank.
            spec: the current spec: step size, ratio band, KL coefficient and clipping are read from it.
            step: 1-based training step.

        Returns:
            Metrics ``actor/*`` (and the corrections', the critic's and the objective's), the same on every rank.

        Raises:
            NonFiniteUpdate: the loss or gradient of an update was not finite. If it was the step's first update,
                nothing has changed; after a later one the learner is torn.
            TornLearner: see there.
            ValueError: a trajectory does not fit into a micro-batch, or a group is not a pair where pairs are learned.
        """
        self._open(spec, step)
        if spec.examples is not None:
            return self._learn_rows(groups, spec, step)
        passes = cuts(groups, spec.schedule, step)
        plan = [self._gradients.prepare(part) for part in passes[0]]
        totals = Totals()
        taken: list[dict[str, float]] = []
        self._torn = f"the update of step {step} failed half-way"
        plan, known = self._gradients.study(plan, groups, spec, totals)
        shown = self._gradients.demonstrations(groups, spec)
        tokens = StepTokens(plan, known) if len(passes) > 1 else None
        # If no sample carries a signal, the demonstrations still do.
        planned = sum(len(parts) or int(bool(shown)) for parts in passes)
        for epoch, parts in enumerate(passes):
            if epoch and tokens is not None:
                plan, known = self._gradients.again(parts, tokens)
            own = Totals()
            for done in self._pass(spec, step, plan, known, shown, own):
                self._take(done, taken, planned, step)
            if tokens is not None:
                _tell_pass(own, epoch)
            totals.add(own)
        self._parts.entropy.close()
        return self._concluded(spec, step, totals, taken, planned)

    def held_out(self, groups: Sequence[Group], spec: RunSpec) -> dict[str, float]:
        """Loss of held-out rows under the current weights, which stay as they are.

        Args:
            groups: examples or pairs, as in ``update``; the same on every rank.
            spec: the current spec. Its objective learns from rows.

        Returns:
            Metrics ``eval/<source>/*``, the same on every rank; empty if nothing teaches.

        Raises:
            ValueError: as in ``update``, or the objective is reinforcement learning.
        """
        self._require_whole()
        totals = Totals()
        self._examples.held_out(groups, spec, totals)
        settle(self._device)
        return totals.values()

    def begin(self, spec: RunSpec, step: int) -> None:
        """Open a step whose groups arrive piece by piece; ``accumulate`` and ``finish`` do the same as ``update``.

        Anything accumulated by an earlier, unfinished step is dropped.

        Args:
            spec: holds for the whole step.
            step: 1-based training step.

        Raises:
            CannotStream: the update under ``spec`` needs all groups together.
            TornLearner: see there.
        """
        if (reason := refusal(spec)) is not None:
            raise CannotStream(reason)
        self._open(spec, step)
        self._streamed = StreamedStep(spec, step)

    def accumulate(self, groups: Sequence[Group]) -> None:
        """Add the gradient of finished groups with their advantages; the same groups on every rank.

        Writes ``learner_logprobs`` and ``entropy`` as ``update`` does. The order of the pieces does not matter.

        Raises:
            RuntimeError: no step is open.
            ValueError: a trajectory does not fit into a micro-batch; nothing of this piece was added.
        """
        self._require_whole()
        streamed = self._open_step()
        spec, totals = streamed.spec, streamed.totals
        for part in minibatches(groups, 1):
            plan = [self._gradients.prepare(part)]
            streamed.count(part)
            self._torn = f"a piece of step {streamed.step} failed half-way"
            ((mine, batches, _),), (known,) = self._gradients.study(plan, groups, spec, totals)
            streamed.weights += self._gradients.accumulate(
                spec, streamed.step, mine, batches, known, UNIT, totals, self.version
            )
            self._torn = None
        streamed.shown += self._gradients.demonstrations(groups, spec)
        settle(self._device)

    def finish(self) -> dict[str, float]:
        """Take the optimizer step of the open step, which ``version`` counts if the policy has moved.

        Returns:
            The metrics of ``update``. With nothing accumulated and nothing shown there is no optimizer step, and
            ``version`` stays.

        Raises:
            RuntimeError: no step is open.
            NonFiniteUpdate: nothing has changed, and the step is closed.
        """
        self._require_whole()
        streamed, self._streamed = self._open_step(), None
        spec, step = streamed.spec, streamed.step
        taken: list[dict[str, float]] = []
        if streamed.sequences or streamed.shown:
            self._torn = f"the update of step {step} failed half-way"
            # The division before the optimizer step is for the policy loss; the supervised term has its own.
            self._gradients.imitate(spec, streamed.shown, streamed.totals, streamed.divisor)
            done = self._step(spec, step, streamed.weights, divisor=streamed.divisor)
            self._torn = None
            if done is None:
                raise NonFiniteUpdate(
                    f"step {step}: the loss or its gradient is not finite; the optimizer step was not taken"
                )
            taken.append(done)
        self.version += self._moves(spec, taken)
        self._close(streamed.totals)
        return _summary(streamed.totals.values(), taken, streamed.divisor, learning_rate(spec, step))

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """Every weight under its Hugging Face name, tied ones once, an adapter merged; empty on ranks above 0."""
        self._require_whole()
        policy = self._parts.weights()
        if self.rank:
            return {}
        return {name: t.float().cpu().numpy() for name, t in as_in_files(self._parts.model, policy).items()}

    @torch.no_grad()
    def layers(self, *, on_device: bool = False) -> Iterator[dict[str, Tensor]]:
        """``weights`` one layer at a time, in the types that engines expect (``formats/travel.py``).

        A layer's tensors may be read until the next layer is requested: they are the learner's own if nothing has to be
        converted. All ranks must request all layers; on ranks above 0 they are empty. They are in host memory or, with
        ``on_device``, on the learner's device.
        """
        self._require_whole()
        for layer in self._parts.layers():
            if self.rank:
                yield {}
            else:
                found = {name: one.to(travel_type(name, one, self._served)) for name, one in layer.items()}
                yield found if on_device else {name: one.cpu() for name, one in found.items()}

    @torch.no_grad()
    def score(self, sequences: Sequence[Sequence[int]]) -> list[list[float]]:
        """Natural-log probability, at temperature 1, of each token but the first given its prefix: n − 1 per sequence.

        Computed in the formats of the rollout engines. Every rank scores all sequences.
        """
        return self._score(sequences, exactly=False)

    @torch.no_grad()
    def score_rounded_otherwise(self, sequences: Sequence[Sequence[int]]) -> list[list[float]] | None:
        """``score`` with different rounding, which shows how sensitive the current policy is to it.

        Computed in float32 if the layers support it in addition to the engines' formats. Otherwise, if policy or
        engines use 16 bits, perturbed by half the distance between such numbers. None if everything is float32.

        Every rank scores all sequences.
        """
        if rounds_as_engine(self._engine.forward):
            return self._score(sequences, exactly=True)
        distance = max(torch.finfo(dtype).eps for dtype in (self._parts.dtype, DTYPES[self._served.dtype]))
        if distance == torch.finfo(torch.float32).eps:
            return None
        with perturbed(self._parts.model, distance / 2):
            return self._score(sequences, exactly=False)

    def rescore(
        self,
        trajectories: Sequence[Trajectory],
        own_prompts: Mapping[str, NDArray[np.int32]],
        top_p: float,
        top_k: int,
    ) -> dict[str, LearnerSide]:
        """Score trajectories again with the current weights; see ``learner_side``. The same on every rank."""
        self._require_whole()
        return learner_side(
            self._engine.forward,
            trajectories,
            own_prompts,
            top_p=top_p,
            top_k=top_k,
            device=self._device,
            context=self._packing.context,
        )

    def save(self, folder: str | Path, extra: Mapping[str, Any] | None = None) -> SavedCheckpoint | None:
        """Write a checkpoint (see ``checkpoint.save``); None on ranks above 0.

        Args:
            folder: its final path.
            extra: JSON-able state of the caller, given back by ``load``.
        """
        self._require_whole()
        held, counters = self._parts.held()
        return checkpoint.save(
            Path(folder),
            self._engine,
            self._parts.model,
            self._model_dir,
            self.version,
            extra or {},
            held,
            counters,
            self._parts.adapter,
        )

    def load(self, folder: str | Path) -> dict[str, Any]:
        """Resume from a checkpoint; returns the caller's ``extra``.

        Raises:
            CheckpointError: the folder is incomplete, was changed, or belongs to another policy; nothing was loaded.
        """
        torn, self._torn = self._torn, "a checkpoint was only partly loaded"
        try:
            self._drop_streamed()
            held, _ = self._parts.held()
            restored = checkpoint.load(Path(folder), self._engine, self._parts.model, held, self._parts.adapter)
        except CheckpointError:
            self._torn = torn
            raise
        self.version = restored.version
        self._parts.restore(restored.held, restored.counters)
        self._torn = None
        return restored.extra

    def _score(self, sequences: Sequence[Sequence[int]], *, exactly: bool) -> list[list[float]]:
        self._require_whole()
        probes = [as_trajectory(sequence) for sequence in sequences]
        for batch in pack(probes, self._packing):
            moved = batch.to(self._device)
            with as_engine(self._engine.forward, exactly=exactly):
                record(probes, moved, *score(self._engine.forward, moved))
        return [[] if probe.learner_logprobs is None else probe.learner_logprobs.tolist() for probe in probes]

    # ── the parts of a step ──

    def _open(self, spec: RunSpec, step: int) -> None:
        """Prepare a step's first forward pass: check the state, and update what is due on a schedule."""
        self._require_whole()
        self._drop_streamed()
        self._parts.renew(spec, step)

    def _close(self, totals: Totals) -> None:
        """End a step: wait for the device, and report the peak of its memory on any rank. Collective."""
        settle(self._device)
        # Gathered from every rank, because sums over the ranks use only one of each context group.
        peaks = [peak for peak in gather_values_from_ranks(take_peak(self._device)) if peak is not None]
        if peaks:
            totals.add_metrics({"perf/learner_memory_max": max(peaks) / GIB}, 1)

    def _learn_rows(self, groups: Sequence[Group], spec: RunSpec, step: int) -> dict[str, float]:
        """``update`` for an objective that learns from rows."""
        totals, taken = Totals(), list[dict[str, float]]()
        plan = self._examples.plan(groups, spec, totals)
        self._torn = f"the update of step {step} failed half-way"
        for part in plan:
            self._examples.accumulate(spec, step, part, totals)
            self._take(self._step(spec, step, SampleWeights()), taken, len(plan), step)
        return self._concluded(spec, step, totals, taken, len(plan))

    def _take(self, done: dict[str, float] | None, taken: list[dict[str, float]], planned: int, step: int) -> None:
        """Add the metrics of an optimizer step to those ``taken`` before; None is one that was refused."""
        if done is None:
            self._torn = self._torn if taken else None
            raise NonFiniteUpdate(
                f"step {step}, update {len(taken) + 1} of {planned}: the loss or its gradient is not finite; "
                "the optimizer step was not taken"
            )
        taken.append(done)

    def _concluded(
        self, spec: RunSpec, step: int, totals: Totals, taken: list[dict[str, float]], planned: int
    ) -> dict[str, float]:
        """End a step that has made all of its updates; returns its metrics. Collective."""
        self._torn = None
        self.version += self._moves(spec, taken)
        self._close(totals)
        return _summary(totals.values(), taken, max(1, planned), learning_rate(spec, step))

    def _pass(
        self,
        spec: RunSpec,
        step: int,
        plan: Sequence[Minibatch],
        known: Sequence[list[KnownTokens]],
        shown: list[Trajectory],
        totals: Totals,
    ) -> Iterator[dict[str, float] | None]:
        """One pass over the batch, update by update: the metrics of each, or None if it was refused."""
        turns = len(plan) or int(bool(shown))
        for index in range(turns):
            weights = SampleWeights()
            if plan:
                mine, batches, whole = plan[index]
                weights = self._gradients.accumulate(
                    spec, step, mine, batches, known[index], whole, totals, self.version
                )
            self._gradients.imitate(spec, shown[index::turns], totals, 1.0)
            yield self._step(spec, step, weights, values=bool(plan))

    def _step(
        self, spec: RunSpec, step: int, weights: SampleWeights, *, divisor: float = 1.0, values: bool = True
    ) -> dict[str, float] | None:
        """The optimizer step of a minibatch, with its metrics; None if it was refused.

        Without ``values``, a separate critic has no gradient and takes no step.
        """
        optimizer = spec.optimizer
        course = learning_rate(spec, step) / optimizer.learning_rate
        value_rate, warming = 0.0, False
        if spec.critic is not None:
            value_rate, warming = spec.critic.learning_rate * course, step <= spec.critic.warmup_steps
        factor, metrics = weights.rate_factor(optimizer)
        rate = 0.0 if warming else optimizer.learning_rate * course * factor
        norm = self._engine.step(
            rate, optimizer.max_grad_norm, divisor=divisor, value_rate=value_rate, policy_rests=warming
        )
        critic = self._parts.critic if values else None
        routing = {} if self._parts.balancer is None else self._parts.balancer.after_update(norm is not None)
        if norm is None:
            if critic is not None:
                critic.drop(self._probe())
            return None
        metrics |= {"actor/grad_norm": norm, "actor/lr": rate, **routing}
        if critic is not None:
            value_norm = critic.engine.step(value_rate, optimizer.max_grad_norm, divisor=divisor)
            if value_norm is None:
                raise NonFiniteUpdate(f"step {step}: the critic's gradient is not finite, and the policy has moved")
            metrics["critic/grad_norm"] = value_norm
        if spec.critic is not None:
            metrics["critic/lr"] = value_rate
        if not warming:
            self._parts.proximal.after_update(self._parts.masters)
        return metrics

    def _moves(self, spec: RunSpec, taken: Sequence[Mapping[str, float]]) -> bool:
        """Whether optimizer steps have moved the policy: all-zero gradients move it by momentum or decay alone."""
        drifts = self.version > 0 or spec.optimizer.weight_decay > 0.0
        moved = any(one["actor/lr"] > 0.0 and (drifts or one["actor/grad_norm"] > 0.0) for one in taken)
        return moved or bool(taken and self._parts.balancer is not None)

    def _require_whole(self) -> None:
        if self._torn is not None:
            raise TornLearner(self._torn)

    def _open_step(self) -> StreamedStep:
        if self._streamed is None:
            raise RuntimeError("no step is open: call begin first")
        return self._streamed

    def _drop_streamed(self) -> None:
        """Discard the gradients of an unfinished step."""
        streamed, self._streamed = self._streamed, None
        if streamed is None or not streamed.sequences:
            return
        # Every ZeRO stage refuses and clears a non-finite gradient in its own way.
        self._engine.backward(score(self._engine.forward, self._probe())[0].sum() * math.nan)
        self._engine.step(0.0, 1.0)

    def _probe(self) -> TokenBatch:
        return pack([as_trajectory([0, 0])], self._packing)[0].to(self._device)


def _tell_pass(totals: Totals, epoch: int) -> None:
    """Add the metrics that differ between passes: how far the policy has moved, and how much is clipped."""
    for name in PER_PASS:
        if (found := totals.mean(name)) is not None:
            mean, count = found
            totals.add_metrics({f"{name}/epoch/{epoch + 1}": mean}, count)


def _summary(totals: dict[str, float], taken: list[dict[str, float]], divisor: float, rate: float) -> dict[str, float]:
    """A step's metrics: sums over minibatches become means, as do the numbers of the optimizer steps."""
    metrics = explain({name: value / divisor if name in SUMS else value for name, value in totals.items()})
    for name in taken[0] if taken else ():
        metrics[name] = sum(figures[name] for figures in taken) / len(taken)
    return metrics if taken else {**metrics, "actor/lr": rate}
