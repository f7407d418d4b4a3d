"""The learner on Ray: one actor per DeepSpeed rank, and the handle that drives them together."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import numpy as np
import ray
from numpy.typing import NDArray
from ray.exceptions import ActorUnavailableError, RayActorError, RayError, RayTaskError

from trainer_core.episodes import Group, Trajectory
from trainer_core.spec import RunSpec
from trainer_core.update.saving.saved import SavedCheckpoint
from worker.cluster.allocator import keep_freed_memory
from worker.cluster.cores import CoreShare, usable_cores
from worker.cluster.network import LOOPBACK, node_address, rendezvous, use_interface
from worker.cluster.private_files import keep_new_files_private
from worker.errors import LearnerLost
from worker.learner.peak import measure_peaks
from worker.learner.probe.evidence import Witness
from worker.learner.probe.sequences import probe_sequences
from worker.learner.publication import Publication
from worker.learner.transport import OBJECT_STORE, TRANSPORTS, WeightTransport
from worker.learner.transport.choice import AUTO, ChosenTransport, Travel, choose
from worker.learner.transport.topology import hosts
from worker.learner.weights import WeightHandle, publish
from worker.messages.columns import Column
from worker.messages.packed_groups import PackedGroups

if TYPE_CHECKING:
    from trainer_core.update.rescoring import LearnerSide

P = ParamSpec("P")
R = TypeVar("R")

FOUND = ("learner_logprobs", "entropy", "token_advantages")
"""Fields of trajectories that a learner computes."""
ANEW = ("learner_logprobs", "entropy")
"""Fields of ``FOUND`` that it must always compute again."""

GRACE_SECONDS = 10.0
"""Seconds that the other ranks may take to end a call once one has failed."""


@dataclass(frozen=True, slots=True)
class Found:
    """Values that one rank has computed for K trajectories."""

    places: list[tuple[int, int]]
    """Group and sample of each."""
    columns: dict[str, Column]


def _at_work(method: Callable[Concatenate[LearnerWorker, P], R]) -> Callable[Concatenate[LearnerWorker, P], R]:
    """A method that computes: if the host's cores are shared, it uses its share of them."""

    @wraps(method)
    def taking_part(self: LearnerWorker, *args: P.args, **kwargs: P.kwargs) -> R:
        with nullcontext() if self.cores is None else self.cores.working():
            return method(self, *args, **kwargs)

    return taking_part


class LearnerWorker:
    """One rank. Runs as a Ray actor; imports torch and DeepSpeed only there."""

    def __init__(self, rank: int, world_size: int, threads: int, cores: str | None) -> None:
        """Claim the process.

        Args:
            rank: the rank of this actor.
            world_size: number of ranks.
            threads: CPU threads; one by default, because the rollout engine has the other core.
            cores: the board of the processes that share the host's cores, if they do. It then decides the threads.
        """
        keep_new_files_private()  # it writes checkpoints
        keep_freed_memory()
        import torch

        from trainer_core.update.device import local_rank

        os.environ["LOCAL_RANK"] = str(local_rank(rank))  # DeepSpeed uses the GPU of this number
        torch.set_num_threads(threads)
        self.cores = None if cores is None else CoreShare(cores, torch.set_num_threads)
        self._publication = Publication(TRANSPORTS[OBJECT_STORE])
        self._travel: Travel | None = None
        self._choice = ChosenTransport(OBJECT_STORE, "")
        self._left: WeightTransport | None = None
        """The previous transport, whose last version engines may still read."""
        self._rank = rank
        self._world_size = world_size
        self._witness = Witness()

    def address(self) -> str:
        """Address by which the cluster's other nodes know the node of this rank."""
        return node_address()

    def rendezvous(self, address: str) -> str:
        """Meeting point for all ranks: a free port at this node's address, or on the loopback."""
        return rendezvous(address)

    def talk_over(self, address: str) -> None:
        """Talk to the other ranks over the interface of an address."""
        use_interface(address)

    def start(
        self,
        model_dir: str,
        spec: RunSpec,
        init_method: str | None,
        device: str,
        teacher: str | None,
        reference: str | None = None,
    ) -> int:
        """Load the policy, its teacher and its reference; returns the vocabulary size."""
        from transformers.utils.logging import disable_progress_bar

        from trainer_core.update.learner import Learner

        disable_progress_bar()
        self._learner = Learner(
            model_dir,
            spec,
            rank=self._rank,
            world_size=self._world_size,
            init_method=init_method,
            device=device,
            teacher=teacher,
            reference=reference,
            between=None if self.cores is None else self.cores.work,
        )
        return self._learner.vocab_size

    def peaks(self, dtypes: tuple[str, ...], device: str) -> dict[str, float]:
        """Peak operations per second of the device by number type; on a CPU, of all the host's cores together."""
        return measure_peaks(device, dtypes, usable_cores())

    @_at_work
    def update(self, packed: PackedGroups, spec: RunSpec, step: int) -> tuple[dict[str, float], Found, int]:
        """One step; returns the metrics, what the learner has computed for this rank's trajectories, the version."""
        groups = packed.groups()
        metrics = self._learner.update(groups, spec, step)
        return metrics, self._found(groups), self._learner.version

    @_at_work
    def held_out(self, packed: PackedGroups, spec: RunSpec) -> dict[str, float]:
        """Metrics of held-out rows."""
        return self._learner.held_out(packed.groups(), spec)

    def begin(self, spec: RunSpec, step: int) -> None:
        """Open a streamed step."""
        self._learner.begin(spec, step)

    @_at_work
    def accumulate(self, packed: PackedGroups) -> Found:
        """Add the gradient of a piece; returns what the learner has computed for this rank's trajectories."""
        groups = packed.groups()
        self._learner.accumulate(groups)
        return self._found(groups)

    @_at_work
    def finish(self) -> tuple[dict[str, float], int]:
        """Take the optimizer step; returns the metrics and the version afterwards."""
        return self._learner.finish(), self._learner.version

    def carry_by(self, travel: Travel | None) -> None:
        """Publish weights as a run's spec requests; None: through Ray's store."""
        self._travel = travel
        if travel is not None:
            self._take(choose(travel), travel)

    @_at_work
    def publish(self, sequences: list[list[int]]) -> WeightHandle | None:
        """Publish the weights; None above rank 0."""
        if self._rank:
            for _ in self._learner.layers():
                pass  # every rank takes part in each layer
            self._learner.score(sequences)
            self._learner.score_rounded_otherwise(sequences)
            return None
        if self._left is not None:
            self._left.close()
            self._left = None
        there = hosts()
        self._follow(there)
        # On one host the whole weights are mapped: finding, applying and proving changes takes longer than a copy.
        mapped = there == 1 and self._publication.transport.local
        whole = mapped or self._learner.served_whole
        return publish(self._learner, sequences, self._publication, self._witness, whole=whole, why=self._choice.why)

    def _follow(self, there: int) -> None:
        """Switch to another transport if hosts have come or gone and the run has not named one."""
        if self._travel is None or self._travel.asked != AUTO or self._travel.topology.hosts == there:
            return
        self._travel = replace(self._travel, topology=replace(self._travel.topology, hosts=there))
        if (chosen := choose(self._travel)).name != self._choice.name:
            self._take(chosen, self._travel)

    def _take(self, chosen: ChosenTransport, travel: Travel) -> None:
        if self._left is not None:
            self._left.close()
        self._choice, self._left = chosen, self._publication.transport
        self._publication = Publication(TRANSPORTS[chosen.name].sender(travel.topology))

    @_at_work
    def rescore(
        self, trajectories: list[Trajectory], own_prompts: dict[str, NDArray[np.int32]], top_p: float, top_k: int
    ) -> dict[str, LearnerSide]:
        """Score trajectories again with the current weights."""
        return self._learner.rescore(trajectories, own_prompts, top_p, top_k)

    def _found(self, groups: Sequence[Group]) -> Found:
        """Values for this rank's trajectories; empty if another rank of its context group reports them."""
        return _columns(groups if self._learner.tells else ())

    def save(self, folder: str, extra: Mapping[str, Any]) -> SavedCheckpoint | None:
        """Write a checkpoint; None above rank 0."""
        return self._learner.save(folder, extra)

    def load(self, folder: str) -> tuple[int, dict[str, Any]]:
        """Load a checkpoint; returns its version and the caller's state."""
        extra = self._learner.load(folder)
        return self._learner.version, extra


def _columns(groups: Sequence[Group]) -> Found:
    known = [
        (g, s, trajectory)
        for g, group in enumerate(groups)
        for s, trajectory in enumerate(group.trajectories)
        if trajectory.learner_logprobs is not None
    ]
    columns = {name: Column.of([getattr(trajectory, name) for _, _, trajectory in known]) for name in FOUND}
    return Found([(g, s) for g, s, _ in known], {name: column for name, column in columns.items() if column})


def _write(groups: Sequence[Group], found: Found) -> None:
    for name, column in found.columns.items():
        for (group, sample), values in zip(found.places, column.arrays(), strict=True):
            if values is not None:
                setattr(groups[group].trajectories[sample], name, values)


class LearnerGroup:
    """All ranks, driven as one. Calls block; a driver that overlaps learning with generation calls from a thread."""

    def __init__(
        self,
        model_dir: str | Path,
        spec: RunSpec,
        *,
        device: str = "cpu",
        threads: int = 1,
        cores: str | None = None,
        actor_options: Mapping[str, Any] | None = None,
        teacher: str | Path | None = None,
        reference: str | Path | None = None,
        travel: Travel | None = None,
        places: Callable[[int], Mapping[str, Any]] = lambda rank: {},
    ) -> None:
        """Start ``spec.parallelism.learner_ranks`` actors and load the policy.

        Args:
            model_dir: the base policy's folder, readable by all ranks.
            spec: as the run starts.
            device: "cpu", or "cuda" with one device per actor.
            threads: CPU threads of each rank.
            cores: the board of the processes that share a host's cores, if they do.
            actor_options: for Ray's scheduler (``num_cpus``, ``num_gpus``, ``name``…).
            teacher: folder of the policy that ``spec.distillation`` names, readable by all ranks.
            reference: folder of the reference policy, readable by all ranks; None for ``model_dir``.
            travel: how weights reach the engines; None for Ray's store.
            places: further options of a rank's actor that say where it computes.

        Raises:
            LearnerLost: a rank died while starting.
        """
        world = spec.parallelism.learner_ranks
        # A restarted rank would come back empty, so the group dies as a whole and is created again.
        options = {"num_cpus": 0, "max_restarts": 0, "max_task_retries": 0, **(actor_options or {})}
        self.workers = [
            ray.remote(LearnerWorker).options(**options, **places(rank)).remote(rank, world, threads, cores)
            for rank in range(world)
        ]
        self.version = 0
        address = self._meeting_place() if world > 1 else None
        self._call("carry_by", travel)
        folders = (None if folder is None else str(folder) for folder in (teacher, reference))
        vocab_size = self._call("start", str(model_dir), spec, address, device, *folders)[0]
        self._device = device
        self._probe = probe_sequences(vocab_size, spec.rollout.engine.max_model_len)

    def peaks(self, dtypes: Sequence[str]) -> dict[str, float]:
        """Peak operations per second of a rank's device by number type; of all of its host's cores on a CPU."""
        found: dict[str, float] = self._call_one(0, "peaks", tuple(dtypes), self._device)
        return found

    def update(self, groups: Sequence[Group], spec: RunSpec, step: int) -> dict[str, float]:
        """One step on all ranks; writes ``learner_logprobs`` and ``entropy`` into ``groups``. See ``Learner.update``.

        Raises:
            LearnerLost: a rank died. (Errors of ``Learner.update`` are raised with their own type.)
        """
        results = self._call("update", ray.put(PackedGroups.of(groups, without=ANEW)), spec, step)
        for _, found, _ in results:
            _write(groups, found)
        metrics: dict[str, float]
        metrics, _, self.version = results[0]
        return metrics

    def held_out(self, groups: Sequence[Group], spec: RunSpec) -> dict[str, float]:
        """Loss of held-out rows under the current weights, computed by all ranks together. See ``Learner.held_out``.

        Raises:
            LearnerLost: a rank died.
        """
        metrics: dict[str, float] = self._call("held_out", ray.put(PackedGroups.of(groups)), spec)[0]
        return metrics

    def begin(self, spec: RunSpec, step: int) -> None:
        """Open a step whose groups arrive piece by piece; see ``Learner.begin``."""
        self._call("begin", spec, step)

    def accumulate(self, groups: Sequence[Group]) -> None:
        """Add the gradient of finished groups; writes into ``groups`` as ``update`` does."""
        for found in self._call("accumulate", ray.put(PackedGroups.of(groups, without=ANEW))):
            _write(groups, found)

    def finish(self) -> dict[str, float]:
        """Take the optimizer step of the open step; returns the metrics of ``update``."""
        metrics: dict[str, float]
        metrics, self.version = self._call("finish")[0]
        return metrics

    def probe_with(self, sequences: list[list[int]]) -> None:
        """Score these sequences from now on, whenever weights are published."""
        self._probe = sequences

    def publish(self) -> WeightHandle:
        """Publish the current weights with their probe. They are gone when rank 0 is."""
        handle: WeightHandle = self._call("publish", self._probe)[0]
        return handle

    def rescore(
        self,
        trajectories: Sequence[Trajectory],
        own_prompts: Mapping[str, NDArray[np.int32]],
        top_p: float,
        top_k: int,
    ) -> dict[str, LearnerSide]:
        """Score trajectories again with the current weights; see ``trainer_core.update.rescoring``."""
        found: dict[str, LearnerSide]
        found = self._call("rescore", ray.put(list(trajectories)), dict(own_prompts), top_p, top_k)[0]
        return found

    def save(self, folder: str | Path, extra: Mapping[str, Any] | None = None) -> SavedCheckpoint:
        """Write a checkpoint with the caller's JSON-able state; see ``trainer_core.update.saving.checkpoint``."""
        saved: SavedCheckpoint = self._call("save", str(folder), dict(extra or {}))[0]
        return saved

    def load(self, folder: str | Path) -> dict[str, Any]:
        """Continue from a checkpoint; returns the caller's state."""
        self.version, extra = self._call("load", str(folder))[0]
        return dict(extra)

    def close(self) -> None:
        """End all ranks."""
        for worker in self.workers:
            ray.kill(worker)

    def lives(self, timeout_s: float) -> bool:
        """Whether the process of rank 0, which holds the weights, is alive. A busy process is alive. Ray gets
        ``timeout_s`` seconds to notice a death."""
        asked = self.workers[0].__ray_ready__.remote()
        if not ray.wait([asked], timeout=timeout_s)[0]:
            return True
        try:
            ray.get(asked)
        except ActorUnavailableError:
            return True  # unreachable for a moment, or starting
        except RayError:
            return False
        return True

    def _meeting_place(self) -> str:
        """Address at which the ranks meet. If all are on one node, they use the loopback, so that nothing listens
        outside the node; else the addresses by which Ray knows their nodes."""
        addresses = [LOOPBACK] * len(self.workers)
        found: list[str] = self._call("address")
        if len(set(found)) > 1:
            addresses = found
        ray.get([worker.talk_over.remote(own) for worker, own in zip(self.workers, addresses, strict=True)])
        meeting: str = self._call_one(0, "rendezvous", addresses[0])
        return meeting

    def _call_one(self, rank: int, method: str, *arguments: Any) -> Any:
        try:
            return ray.get(getattr(self.workers[rank], method).remote(*arguments))
        except RayActorError as error:
            raise LearnerLost(f"learner rank {rank} died in {method}: {error}") from error

    def _call(self, method: str, *arguments: Any) -> list[Any]:
        """Call all ranks and wait; the first failure decides."""
        pending = {getattr(worker, method).remote(*arguments): rank for rank, worker in enumerate(self.workers)}
        results: list[Any] = [None] * len(self.workers)
        failures: dict[int, Exception] = {}
        while pending:
            ready, _ = ray.wait(list(pending), num_returns=1, timeout=GRACE_SECONDS if failures else None)
            if not ready:
                # The other ranks wait in a collective for one that has failed.
                self.close()
                break
            rank = pending.pop(ready[0])
            try:
                results[rank] = ray.get(ready[0])
            except (RayActorError, RayTaskError) as error:
                failures[rank] = error
        if not failures:
            return results
        # When a rank dies, its peers fail too, in their collective and often before Ray has noticed the death.
        dead = [rank for rank in range(len(self.workers)) if isinstance(failures.get(rank), RayActorError)]
        first = failures[dead[0] if dead else min(failures)]
        if dead:
            self.close()
            names = ", ".join(str(rank) for rank in dead)
            raise LearnerLost(f"learner rank {names} died in {method}: {first}") from first
        raise first
