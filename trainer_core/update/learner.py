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
from trainer_core.trajectory import Group, Trajectory
from trainer_core.update import checkpoint, refine
from trainer_core.update.engine import UpdateEngine, init_process_group
from trainer_core.update.integrity import CheckpointError
from trainer_core.update.objective import Denominators, denominators, loss_share
from trainer_core.update.optimizer import learning_rate
from trainer_core.update.packing import TokenBatch, pack
from trainer_core.update.policy import load_policy, score
from trainer_core.update.saved import SavedCheckpoint
from trainer_core.update.sharding import minibatches, shards
from trainer_core.update.streaming import UNIT, CannotStream, StreamedStep, refusal
from trainer_core.update.totals import Totals

SUMS = ("actor/loss", "actor/pg_loss")
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
        """Load the policy, and the reference policy where the spec has a KL penalty.

        Args:
            model_dir: the base policy, a Hugging Face folder; it stays the reference after a checkpoint is loaded.
            spec: ZeRO stage, AdamW's constants and the micro-batch budget are read here, once.
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
        self._engine = UpdateEngine(self._model, spec, world_size=world_size)
        self._reference = None
        if spec.kl.coefficient > 0:
            self._reference = load_policy(model_dir, device=device).eval().requires_grad_(False)
        self._torn: str | None = None
        self._streamed: StreamedStep | None = None

    @property
    def vocab_size(self) -> int:
        """Tokens the policy knows."""
        return int(self._model.get_input_embeddings().num_embeddings)

    def update(self, groups: Sequence[Group], spec: RunSpec, step: int) -> dict[str, float]:
        """Learn from one step's groups; afterwards ``version`` is ``step``.

        Writes ``learner_logprobs`` and ``entropy`` (as they were before the first update; 0 for forced tokens) into
        the trajectories of this rank that take part in the loss. With none taking part there is no optimizer step, and
        the metrics hold the learning rate alone.

        Args:
            groups: the whole step's, on every rank.
            spec: the spec that holds now: step size, ratio band, KL coefficient and clipping are read from it.
            step: 1-based training step.

        Returns:
            Metrics ``actor/*`` (and the corrections'), the same on every rank.

        Raises:
            NonFiniteUpdate: the loss or gradient of an update was not finite. Nothing has changed if it was the step's
                first update; after a later one the learner is torn.
            TornLearner: see there.
            ValueError: a trajectory does not fit into a micro-batch.
        """
        self._require_whole()
        self._require_reference(spec)
        self._drop_streamed()
        rate = learning_rate(spec, step)
        plan = [self._prepare(part) for part in minibatches(groups, spec.schedule.updates_per_step)]
        several = len(plan) > 1 or refine.needs_scores(spec)
        totals = Totals()
        norms: list[float] = []
        self._torn = f"the update of step {step} failed half-way"
        references = [self._score_reference(batches, spec) for _, batches, _ in plan]
        olds = [
            self._score_old(mine, batches, totals) if several else [None] * len(batches) for mine, batches, _ in plan
        ]
        plan = refine.refine(plan, groups, spec, self._world_size)
        for index, (mine, batches, whole) in enumerate(plan):
            self._accumulate(spec, mine, batches, references[index], olds[index], whole, totals)
            norm = self._engine.step(rate, spec.optimizer.max_grad_norm)
            if norm is None:
                self._torn = self._torn if index else None
                raise NonFiniteUpdate(
                    f"step {step}, update {index + 1} of {len(plan)}: the loss or its gradient is not finite; "
                    "the optimizer step was not taken"
                )
            norms.append(norm)
        self._torn = None
        self.version = step
        metrics = totals.values()
        for name in SUMS:
            if plan:
                metrics[name] /= len(plan)
        if norms:
            metrics["actor/grad_norm"] = sum(norms) / len(norms)
        return {**metrics, "actor/lr": rate}

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
        self._require_whole()
        self._require_reference(spec)
        if (reason := refusal(spec)) is not None:
            raise CannotStream(reason)
        self._drop_streamed()
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
        for part in minibatches(groups, 1):
            mine, batches, _ = self._prepare(part)
            streamed.count(part)
            self._torn = f"a piece of step {streamed.step} failed half-way"
            references = self._score_reference(batches, streamed.spec)
            self._accumulate(streamed.spec, mine, batches, references, [None] * len(batches), UNIT, streamed.totals)
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
        rate = learning_rate(spec, step)
        if not streamed.sequences:
            self.version = step
            return {"actor/lr": rate}
        self._torn = f"the update of step {step} failed half-way"
        norm = self._engine.step(rate, spec.optimizer.max_grad_norm, divisor=streamed.divisor)
        self._torn = None
        if norm is None:
            raise NonFiniteUpdate(
                f"step {step}: the loss or its gradient is not finite; the optimizer step was not taken"
            )
        self.version = step
        metrics = streamed.totals.values()
        for name in SUMS:
            metrics[name] /= streamed.divisor
        return {**metrics, "actor/grad_norm": norm, "actor/lr": rate}

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """Every weight under its Hugging Face name, tied ones once; empty on ranks above 0."""
        self._require_whole()
        whole = self._engine.weights()
        return {} if self.rank else {name: tensor.float().cpu().numpy() for name, tensor in whole.items()}

    @torch.no_grad()
    def score(self, sequences: Sequence[Sequence[int]]) -> list[list[float]]:
        """Natural-log probability, at temperature 1, of each token but the first given its prefix: n − 1 per sequence.

        Every rank scores all sequences.
        """
        self._require_whole()
        probes = [_as_trajectory(sequence) for sequence in sequences]
        for batch in pack(probes, self._budget):
            moved = batch.to(self._device)
            _record(probes, moved, *score(self._engine.forward, moved))
        return [[] if probe.learner_logprobs is None else probe.learner_logprobs.tolist() for probe in probes]

    def save(self, folder: str | Path, extra: Mapping[str, Any] | None = None) -> SavedCheckpoint | None:
        """Write a checkpoint (see ``checkpoint.save``); None on ranks above 0.

        Args:
            folder: its final place.
            extra: JSON-able state of the caller, given back by ``load``.
        """
        self._require_whole()
        return checkpoint.save(Path(folder), self._engine, self._model, self._model_dir, self.version, extra or {})

    def load(self, folder: str | Path) -> dict[str, Any]:
        """Go on from a checkpoint; returns the caller's ``extra``.

        Raises:
            CheckpointError: the folder is incomplete, was changed, or belongs to another policy; nothing was loaded.
        """
        torn, self._torn = self._torn, "a checkpoint was half loaded"
        try:
            self._drop_streamed()
            self.version, extra = checkpoint.load(Path(folder), self._engine)
        except CheckpointError:
            self._torn = torn
            raise
        self._torn = None
        return extra

    def _require_whole(self) -> None:
        if self._torn is not None:
            raise TornLearner(self._torn)

    def _require_reference(self, spec: RunSpec) -> None:
        if spec.kl.coefficient > 0 and self._reference is None:
            raise ValueError("kl.coefficient is above 0 but the learner was started without a reference policy")

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
        probe = pack([_as_trajectory([0, 0])], self._budget)[0].to(self._device)
        self._engine.backward(score(self._engine.forward, probe)[0].sum() * math.nan)
        self._engine.step(0.0, 1.0)

    def _accumulate(
        self,
        spec: RunSpec,
        mine: list[Trajectory],
        batches: list[TokenBatch],
        references: list[Tensor | None],
        olds: Sequence[Tensor | None],
        whole: Denominators,
        totals: Totals,
    ) -> None:
        """Add the gradient of one minibatch, micro-batch by micro-batch."""
        for batch, reference, old in zip(batches, references, olds, strict=True):
            logprobs, entropies = score(self._engine.forward, batch)
            if old is None:
                _record(mine, batch, logprobs.detach(), entropies)
                _add_entropy(totals, batch, entropies)
            proximal = logprobs.detach() if old is None else old
            loss = loss_share(spec, batch, logprobs, proximal, reference, whole, totals)
            # A loss that is not finite poisons the gradient, so that every rank refuses the same step.
            self._engine.backward(loss if bool(torch.isfinite(loss)) else loss * math.nan)

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
    def _score_reference(self, batches: list[TokenBatch], spec: RunSpec) -> list[Tensor | None]:
        if self._reference is None or spec.kl.coefficient == 0.0:
            return [None] * len(batches)
        return [score(self._reference, batch)[0] for batch in batches]

    @torch.no_grad()
    def _score_old(self, mine: list[Trajectory], batches: list[TokenBatch], totals: Totals) -> list[Tensor]:
        result = []
        for batch in batches:
            logprobs, entropies = score(self._engine.forward, batch)
            _record(mine, batch, logprobs, entropies)
            _add_entropy(totals, batch, entropies)
            result.append(logprobs)
        return result


def _add_entropy(totals: Totals, batch: TokenBatch, entropies: Tensor) -> None:
    if bool(batch.mask.any()):
        totals.add_metrics({"actor/entropy": entropies.mean()}, len(entropies))


def _record(mine: list[Trajectory], batch: TokenBatch, logprobs: Tensor, entropies: Tensor) -> None:
    """Write the learner's view of a micro-batch into its trajectories."""
    if not bool(batch.mask.any()):
        return
    columns = (batch.sequence, batch.offset, logprobs, entropies)
    sequence, offset, logprob, entropy = (column.cpu().numpy() for column in columns)
    starts = np.flatnonzero(np.diff(sequence, prepend=-1))
    for start, stop in zip(starts, [*starts[1:], len(sequence)], strict=True):
        trajectory = mine[int(sequence[start])]
        trajectory.learner_logprobs = np.zeros(trajectory.length, dtype=np.float32)
        trajectory.entropy = np.zeros(trajectory.length, dtype=np.float32)
        trajectory.learner_logprobs[offset[start:stop]] = logprob[start:stop]
        trajectory.entropy[offset[start:stop]] = entropy[start:stop]


def _as_trajectory(sequence: Sequence[int]) -> Trajectory:
    """A fixed sequence in the shape that packing knows: its first token is the prompt."""
    ids = np.asarray(sequence, dtype=np.int32)
    length = len(ids) - 1
    return Trajectory(
        trajectory_id="probe",
        prompt_ids=ids[:1],
        token_ids=ids[1:],
        behaviour_logprobs=np.zeros(length, dtype=np.float32),
        versions=np.zeros(length, dtype=np.int32),
        sampled=np.ones(length, dtype=np.bool_),
        finish_reason="stop",
        temperature=1.0,
    )
