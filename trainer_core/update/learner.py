"""The learner: one optimizer step after another on groups of trajectories. One object per DeepSpeed rank.

groups ─► minibatches ─► this rank's shard ─► packed micro-batches ─► log-probs ─► loss ─► gradient ─┐
             ▲                                                                                       ▼
             └──────────────────────── once per update of the step ◄──────────────── clip, AdamW, next
"""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch import Tensor

from trainer_core.spec import RunSpec
from trainer_core.spec.critic import GAEAdvantage, HeadCritic, SeparateCritic
from trainer_core.trajectory import Group, Trajectory
from trainer_core.update import checkpoint, refine
from trainer_core.update.critic import SeparateValue, ValueHead
from trainer_core.update.engine import UpdateEngine, init_process_group
from trainer_core.update.integrity import CheckpointError
from trainer_core.update.objective import Denominators, denominators, loss_share
from trainer_core.update.optimizer import learning_rate
from trainer_core.update.packing import TokenBatch, pack
from trainer_core.update.policy import load_policy, score
from trainer_core.update.proximal import ProximalPolicy
from trainer_core.update.rate import SampleWeights
from trainer_core.update.recording import add_entropy, as_trajectory, record
from trainer_core.update.returns import Known, estimate
from trainer_core.update.saved import SavedCheckpoint
from trainer_core.update.sharding import minibatches, shards
from trainer_core.update.streaming import UNIT, CannotStream, StreamedStep, refusal
from trainer_core.update.totals import Totals
from trainer_core.update.twin import Twin
from trainer_core.update.value_objective import explain, value_share

SUMS = ("actor/loss", "actor/pg_loss", "critic/vf_loss")
"""Metrics that are sums of shares of a minibatch."""


class NonFiniteUpdate(RuntimeError):
    """A loss or gradient was NaN or infinite: the optimizer step was not taken."""


class TornLearner(RuntimeError):
    """An earlier update failed half-way; the learner must load a checkpoint before it is used again."""


class Learner:
    """One rank of the learner. Every public method is collective over the ranks."""

    def __init__(
        self,
        model_dir: str | Path,
        spec: RunSpec,
        *,
        rank: int = 0,
        world_size: int = 1,
        init_method: str | None = None,
        device: str = "cpu",
    ) -> None:
        """Load the policy, and beside it what the spec needs: reference policy, critic, proximal policy.

        Args:
            model_dir: the base policy, a Hugging Face folder; it stays the reference after a checkpoint is loaded.
            spec: ZeRO stage, AdamW's constants, critic, proximal policy and the micro-batch budget are read here, once.
            rank: of this process.
            world_size: number of ranks.
            init_method: such as ``tcp://127.0.0.1:<port>``; needed with more than one rank.
            device: where the policy lives.
        """
        init_process_group(rank, world_size, init_method, device)
        self.rank = rank
        self.version = 0
        self._world_size = world_size
        self._device = torch.device(device)
        self._model_dir = Path(model_dir)
        self._budget = spec.parallelism.max_tokens_per_microbatch
        checkpointing = spec.policy.gradient_checkpointing
        self._model = load_policy(model_dir, device=device, gradient_checkpointing=checkpointing).train()
        self._head = ValueHead(self._model) if isinstance(spec.critic, HeadCritic) else None
        self._engine = UpdateEngine(self._model, spec, world_size=world_size)
        self._critic = None
        if isinstance(spec.critic, SeparateCritic):
            self._critic = SeparateValue(self._model_dir, spec, world_size, self._device)
        self._reference = Twin(model_dir, device) if spec.kl.coefficient > 0 else None
        self._renews_reference = spec.kl.reset_steps is not None
        self._proximal = ProximalPolicy(spec.proximal, self._model_dir, self._device)
        self._torn: str | None = None
        self._streamed: StreamedStep | None = None

    @property
    def vocab_size(self) -> int:
        """Tokens the policy knows."""
        return int(self._model.get_input_embeddings().num_embeddings)

    def update(self, groups: Sequence[Group], spec: RunSpec, step: int) -> dict[str, float]:
        """Learn from one step's groups; afterwards ``version`` is ``step``.

        Writes ``learner_logprobs`` and ``entropy`` (as they were before the first update; 0 for forced tokens) into
        the trajectories of this rank that take part in the loss, and with a critic ``token_advantages``. With none
        taking part there is no optimizer step, and the metrics hold the learning rate alone.

        Args:
            groups: the whole step's, on every rank.
            spec: the spec that holds now: step size, ratio band, KL coefficient and clipping are read from it.
            step: 1-based training step.

        Returns:
            Metrics ``actor/*`` (and the corrections' and the critic's), the same on every rank.

        Raises:
            NonFiniteUpdate: the loss or gradient of an update was not finite. Nothing has changed if it was the step's
                first update; after a later one the learner is torn.
            TornLearner: see there.
            ValueError: a trajectory does not fit into a micro-batch.
        """
        self._open(spec, step)
        plan = [self._prepare(part) for part in minibatches(groups, spec.schedule.updates_per_step)]
        totals = Totals()
        taken: list[dict[str, float]] = []
        self._torn = f"the update of step {step} failed half-way"
        plan, known = self._study(plan, groups, spec, totals)
        for index, (mine, batches, whole) in enumerate(plan):
            weights = self._accumulate(spec, step, mine, batches, known[index], whole, totals)
            done = self._step(spec, step, weights)
            if done is None:
                self._torn = self._torn if index else None
                raise NonFiniteUpdate(
                    f"step {step}, update {index + 1} of {len(plan)}: the loss or its gradient is not finite; "
                    "the optimizer step was not taken"
                )
            taken.append(done)
        self._torn = None
        self.version = step
        return _summary(totals.values(), taken, len(plan), learning_rate(spec, step))

    def begin(self, spec: RunSpec, step: int) -> None:
        """Open a step whose groups come piece by piece; ``accumulate`` and ``finish`` make the update of ``update``.

        What an earlier step has accumulated without being finished is dropped.

        Args:
            spec: holds for the whole step.
            step: 1-based training step.

        Raises:
            CannotStream: the update under ``spec`` needs all groups at once.
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
            plan = [self._prepare(part)]
            streamed.count(part)
            self._torn = f"a piece of step {streamed.step} failed half-way"
            ((mine, batches, _),), (known,) = self._study(plan, groups, spec, totals)
            streamed.weights += self._accumulate(spec, streamed.step, mine, batches, known, UNIT, totals)
            self._torn = None

    def finish(self) -> dict[str, float]:
        """Take the optimizer step of the open step; afterwards ``version`` is that step.

        Returns:
            The metrics of ``update``. With nothing accumulated there is no optimizer step.

        Raises:
            RuntimeError: no step is open.
            NonFiniteUpdate: nothing has changed, and the step is closed.
        """
        self._require_whole()
        streamed, self._streamed = self._open_step(), None
        spec, step = streamed.spec, streamed.step
        taken: list[dict[str, float]] = []
        if streamed.sequences:
            self._torn = f"the update of step {step} failed half-way"
            done = self._step(spec, step, streamed.weights, streamed.divisor)
            self._torn = None
            if done is None:
                raise NonFiniteUpdate(
                    f"step {step}: the loss or its gradient is not finite; the optimizer step was not taken"
                )
            taken.append(done)
        self.version = step
        return _summary(streamed.totals.values(), taken, streamed.divisor, learning_rate(spec, step))

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """Every weight under its Hugging Face name, tied ones once; empty on ranks above 0."""
        self._require_whole()
        whole = self._engine.weights()
        policy, _ = checkpoint.apart(whole)
        return {} if self.rank else {name: tensor.float().cpu().numpy() for name, tensor in policy.items()}

    @torch.no_grad()
    def score(self, sequences: Sequence[Sequence[int]]) -> list[list[float]]:
        """Natural-log probability, at temperature 1, of each token but the first given its prefix: n − 1 per sequence.

        Every rank scores all sequences.
        """
        self._require_whole()
        probes = [as_trajectory(sequence) for sequence in sequences]
        for batch in pack(probes, self._budget):
            moved = batch.to(self._device)
            record(probes, moved, *score(self._engine.forward, moved))
        return [[] if probe.learner_logprobs is None else probe.learner_logprobs.tolist() for probe in probes]

    def save(self, folder: str | Path, extra: Mapping[str, Any] | None = None) -> SavedCheckpoint | None:
        """Write a checkpoint (see ``checkpoint.save``); None on ranks above 0.

        Args:
            folder: its final place.
            extra: JSON-able state of the caller, given back by ``load``.
        """
        self._require_whole()
        held, counters = self._held()
        return checkpoint.save(
            Path(folder), self._engine, self._model, self._model_dir, self.version, extra or {}, held, counters
        )

    def load(self, folder: str | Path) -> dict[str, Any]:
        """Go on from a checkpoint; returns the caller's ``extra``.

        Raises:
            CheckpointError: the folder is incomplete, was changed, or belongs to another policy; nothing was loaded.
        """
        torn, self._torn = self._torn, "a checkpoint was half loaded"
        try:
            self._drop_streamed()
            held, _ = self._held()
            restored = checkpoint.load(Path(folder), self._engine, held)
        except CheckpointError:
            self._torn = torn
            raise
        self.version = restored.version
        if self._reference is not None and "reference" in restored.held:
            self._reference.blend(restored.held["reference"])
        self._proximal.load(restored.held.get("proximal", {}), restored.counters.get("proximal_normaliser", 1.0))
        if self._critic is not None:
            self._critic.load(restored.held["critic"], int(restored.counters["critic_steps"]))
        self._torn = None
        return restored.extra

    # ── the parts of a step ──

    def _open(self, spec: RunSpec, step: int) -> None:
        """What comes before a step's first forward pass: checks, and what is renewed on a schedule."""
        self._require_whole()
        if spec.kl.coefficient > 0 and self._reference is None:
            raise ValueError("kl.coefficient is above 0 but the learner was started without a reference policy")
        self._drop_streamed()
        every = spec.kl.reset_steps
        if self._reference is not None and every is not None and step > 1 and (step - 1) % every == 0:
            self._reference.blend(self._engine.weights())
            self._engine.forget_moments()
        self._proximal.begin_step(step, self._engine.weights)

    def _prepare(self, part: list[Trajectory]) -> tuple[list[Trajectory], list[TokenBatch], Denominators]:
        """This rank's trajectories of a minibatch, packed; as many micro-batches as the rank with the most has."""
        mine = shards(part, self._world_size)[self.rank]
        batches = pack(mine, self._budget)
        if self._world_size > 1:
            most = torch.tensor(len(batches))
            dist.all_reduce(most, dist.ReduceOp.MAX)
            if len(batches) < most:
                # DeepSpeed's collectives need the ranks in step: extra turns are made with a short sequence.
                idle = pack([min(part, key=lambda t: len(t.prompt_ids) + t.length)], self._budget)[0].without_loss()
                batches += [idle] * (int(most) - len(batches))
        return mine, [batch.to(self._device) for batch in batches], denominators(part)

    @torch.no_grad()
    def _study(
        self, plan: list[refine.Minibatch], groups: Sequence[Group], spec: RunSpec, totals: Totals
    ) -> tuple[list[refine.Minibatch], list[list[Known]]]:
        """All that is scored before the first update; the advantages that depend on it stand in the plan returned."""
        advantage = spec.advantage
        critical = isinstance(advantage, GAEAdvantage)
        early = len(plan) > 1 or refine.needs_scores(spec) or critical
        known = [[Known() for _ in batches] for _, batches, _ in plan]
        for (mine, batches, _), looked in zip(plan, known, strict=True):
            for batch, one in zip(batches, looked, strict=True):
                if self._reference is not None and spec.kl.coefficient > 0:
                    one.reference = self._reference.score(batch)
                if early:
                    one.before, entropies = score(self._engine.forward, batch)
                    record(mine, batch, one.before, entropies)
                    add_entropy(totals, batch, entropies)
                if critical:
                    one.values = self._values(batch).detach()
        if isinstance(advantage, GAEAdvantage):
            scored = [(mine, batches, looked) for (mine, batches, _), looked in zip(plan, known, strict=True)]
            renewed = estimate(advantage, spec, scored)
            plan = [(mine, batches, whole) for (mine, _, whole), batches in zip(plan, renewed, strict=True)]
        return refine.refine(plan, groups, spec, self._world_size), known

    def _accumulate(
        self,
        spec: RunSpec,
        step: int,
        mine: list[Trajectory],
        batches: list[TokenBatch],
        known: list[Known],
        whole: Denominators,
        totals: Totals,
    ) -> SampleWeights:
        """Add the gradient of one minibatch, micro-batch by micro-batch; returns its samples' importance weights."""
        weights = SampleWeights()
        warming = spec.critic is not None and step <= spec.critic.warmup_steps
        if self._head is not None:
            self._head.detached = warming
        for batch, one in zip(batches, known, strict=True):
            logprobs, entropies = score(self._engine.forward, batch)
            current = logprobs.detach()
            if one.before is None:
                record(mine, batch, current, entropies)
                add_entropy(totals, batch, entropies)
            weights.add(batch, current)
            proximal = self._proximal.logprobs(batch, current, one.before, self.version)
            loss = loss_share(spec, batch, logprobs, proximal, one.reference, whole, totals)
            if spec.critic is not None and one.returns is not None:
                value = value_share(spec, spec.critic, batch, self._values(batch), one, whole, totals)
                # While the value warms up, the policy's gradient is zero and its step size too.
                loss = loss * (0.0 if warming else 1.0)
                if self._critic is not None:
                    self._critic.engine.backward(_poisoned(value, loss))
                    loss = _poisoned(loss, value)
                else:
                    loss = loss + value
            # A loss that is not finite poisons the gradient, so that every rank refuses the same step.
            self._engine.backward(_poisoned(loss))
        return weights

    def _step(self, spec: RunSpec, step: int, weights: SampleWeights, divisor: float = 1.0) -> dict[str, float] | None:
        """The optimizer step of a minibatch, with its metrics; None where it was refused."""
        optimizer = spec.optimizer
        course = learning_rate(spec, step) / optimizer.learning_rate
        value_rate, warming = 0.0, False
        if spec.critic is not None:
            value_rate, warming = spec.critic.learning_rate * course, step <= spec.critic.warmup_steps
        factor, metrics = weights.rate_factor(optimizer)
        rate = 0.0 if warming else optimizer.learning_rate * course * factor
        norm = self._engine.step(rate, optimizer.max_grad_norm, divisor=divisor, value_rate=value_rate)
        if norm is None:
            if self._critic is not None:
                self._critic.engine.step(0.0, 1.0)
            return None
        metrics |= {"actor/grad_norm": norm, "actor/lr": rate}
        if self._critic is not None:
            value_norm = self._critic.engine.step(value_rate, optimizer.max_grad_norm, divisor=divisor)
            if value_norm is None:
                raise NonFiniteUpdate(f"step {step}: the critic's gradient is not finite, and the policy has moved")
            metrics["critic/grad_norm"] = value_norm
        if spec.critic is not None:
            metrics["critic/lr"] = value_rate
        if not warming:
            self._proximal.after_update(self._engine.weights)
        return metrics

    def _values(self, batch: TokenBatch) -> Tensor:
        """The critic's values; those of a head belong to the policy's last forward pass, which was of ``batch``."""
        if self._head is not None:
            return self._head.take()
        if self._critic is None:
            raise ValueError("the advantages need a critic but the learner was started without one")
        return self._critic.values(batch)

    def _held(self) -> tuple[dict[str, dict[str, Tensor]], dict[str, float]]:
        """What a checkpoint holds beside the policy. Collective."""
        held: dict[str, dict[str, Tensor]] = {}
        counters = {"proximal_normaliser": self._proximal.normaliser}
        if self._reference is not None and self._renews_reference:
            held["reference"] = self._reference.tensors()
        if proximal := self._proximal.tensors():
            held["proximal"] = proximal
        if self._critic is not None:
            held["critic"] = self._critic.tensors()
            counters["critic_steps"] = self._critic.engine.optimizer_steps
        return held, counters

    def _require_whole(self) -> None:
        if self._torn is not None:
            raise TornLearner(self._torn)

    def _open_step(self) -> StreamedStep:
        if self._streamed is None:
            raise RuntimeError("no step is open: call begin first")
        return self._streamed

    def _drop_streamed(self) -> None:
        """Forget the gradients of a step that is not finished."""
        streamed, self._streamed = self._streamed, None
        if streamed is None or not streamed.sequences:
            return
        # A gradient that is not finite is refused and cleared by every ZeRO stage's own path.
        probe = pack([as_trajectory([0, 0])], self._budget)[0].to(self._device)
        self._engine.backward(score(self._engine.forward, probe)[0].sum() * math.nan)
        self._engine.step(0.0, 1.0)


def _poisoned(loss: Tensor, *others: Tensor) -> Tensor:
    """The loss, or NaN with its graph where it or one of the others is not finite."""
    finite = all(bool(torch.isfinite(one)) for one in (loss, *others))
    return loss if finite else loss * math.nan


def _summary(totals: dict[str, float], taken: list[dict[str, float]], divisor: float, rate: float) -> dict[str, float]:
    """A step's metrics: sums over minibatches become means, and so do the figures of the optimizer steps."""
    metrics = explain({name: value / divisor if name in SUMS else value for name, value in totals.items()})
    for name in taken[0] if taken else ():
        metrics[name] = sum(figures[name] for figures in taken) / len(taken)
    return metrics if taken else {**metrics, "actor/lr": rate}
