"""The rollout workers as the loop sees them: groups go in, finished ones come out, dead and hung engines are replaced.

A group's samples stay on one worker, which computes their common prompt once. New groups go to the worker with the
fewest running tokens. A thread per worker waits for finished groups.

A worker that dies or hangs is replaced. Its unfinished groups go to the others, or to the new engine if there are no
others. The new engine joins as soon as it has proved the current weights. The run does not wait for it: if a node is
lost, there may be no room until another node has some. A worker whose new engines fail as well is retired. The failure
of the last worker is the run's, or the loss of the learner if the worker could not reach it. A run that starts with
fewer workers than it may have gets the others in the same way.

Weights that were lost with the learner's process are not an engine's failure, and no new engine could get them: the
learner is lost, whatever carries the weights. If the learner is alive, an engine that finds them lost, or that is
briefly cut off while it receives new ones, is replaced like one that dies.

A worker that fails its probe twice is not replaced. Neither it nor the others generate anything more: the cause is in
the weights, in their transfer or in the engine's code, which a new process would share. Users decide.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any

import ray
from ray.actor import ActorHandle
from ray.exceptions import ObjectLostError, RayActorError, RayError, RayTaskError

from worker.cluster.network import node_answers
from worker.cluster.notify import Notify
from worker.engine import EngineConfig, KvOnUpdate
from worker.errors import LearnerLost, RolloutError, WeightsRefused, WeightsUnread
from worker.learner.probe.errors import ProbeFailed
from worker.messages.jobs import Collected, EngineLoad, GroupJob, Parked, Submission, Updated
from worker.messages.probe import Floor, ProbeFigures
from worker.rollout import health as watch
from worker.rollout.health import HealthWatch, reason

if TYPE_CHECKING:
    from trainer_core.link.rehearsal import DevicePeak
    from worker.learner.weights import WeightHandle

log = logging.getLogger(__name__)

MAX_REPLACEMENTS = 3
"""Replacements of a worker without a finished group in between, after which it is retired."""
POLL_S, AGAIN_S = 1.0, 3.0
"""Seconds between two checks for a worker's process, and between two attempts to create it."""
ROOM_S = 10.0
"""Seconds after which users are notified that a worker has no room on the cluster."""

Deliver = Callable[[int, Collected], None]
"""(worker, finished groups): called in that worker's thread; each group is delivered once."""


@dataclass(slots=True)
class _Slot:
    index: int
    handle: ActorHandle
    generation: int = 0
    serving: int | None = None
    """Version that it has proved to serve; None while it starts."""
    drained: Exception | None = None
    """Error that kept it from receiving new weights. Its thread replaces it."""
    up: bool = True
    """Whether it accepts calls. False while a new engine starts: if no other is up, new groups wait in ``held``."""
    absent: bool = False
    """Whether it has no working engine, until its new one is up."""
    awaited: bool = False
    """Whether users have been notified that it waits for room on the cluster."""
    retired: bool = False
    held: dict[str, GroupJob] = field(default_factory=dict)
    """Groups that it has not finished."""
    load: EngineLoad | None = None
    sent: int = 0
    """Prompt tokens sent since ``load``."""
    probe: ProbeFigures | None = None
    """Figures of its last probe."""
    failures: int = 0


class Router:
    """Router of groups to rollout workers. Thread-safe."""

    def __init__(
        self,
        spawn: Callable[[int, int], ActorHandle],
        size: int,
        config: EngineConfig,
        tolerance: float,
        batch: int,
        notify: Notify,
        least: int | None = None,
        learner_lives: Callable[[], bool] = lambda: False,
        node_of: Callable[[int], str | None] = lambda index: None,
    ) -> None:
        """Start the workers.

        Args:
            spawn: creates an actor, given (index, generation); the engine of ``config`` is then built in it.
            size: number of workers.
            config: the config of each engine.
            tolerance: largest mean difference that may count as noise, in nats.
            batch: groups in a batch: a quarter of a worker's share is sent in one message.
            notify: called when a worker is lost, replaced or added.
            least: workers that the run starts with; the others join when they are up. Default: all.
            learner_lives: called when an engine cannot read the weights that the learner has published.
            node_of: id of the node that has room for a worker; None if no node has, or if that is not known.
        """
        least = size if least is None else least
        self._flush = max(1, batch // (4 * size))
        self._spawn, self._config, self._tolerance, self._notify = spawn, config, tolerance, notify
        self._learner_lives, self._node_of = learner_lives, node_of
        self._slots = [_Slot(index, spawn(index, 0), up=index < least, absent=index >= least) for index in range(size)]
        self.started = [slot.handle.start.remote(config) for slot in self._slots[:least]]
        """One ref per worker that the run starts with. It holds the seconds of its start, or its error."""
        self._changed = threading.Condition(threading.RLock())
        self._weights: WeightHandle | None = None
        self._version, self._seed = -1, 0
        self.floor: Floor | None = None
        """Noise between engines and learner, measured with the first weights that all serve. None: the next update
        measures it. A resumed run sets it before its first update."""
        self._closed = False
        self._failure: RolloutError | LearnerLost | None = None
        self._updates = ThreadPoolExecutor(1, thread_name_prefix="weights")
        self.regenerated = 0
        """Groups that were sent again because their worker was lost."""

    def serve(self, deliver: Deliver, failed: Callable[[], None]) -> None:
        """Start to deliver finished groups. ``failed`` is called when the last worker is lost; see ``check``."""
        self._deliver, self._failed = deliver, failed
        for slot in self._slots:
            threading.Thread(target=self._attend, args=(slot,), name=f"rollout-{slot.index}", daemon=True).start()

    def check(self) -> None:
        """Raise ``RolloutError`` if no worker is left, ``LearnerLost`` if the weights are lost or out of reach."""
        if self._failure is not None:
            raise self._failure

    @property
    def loads(self) -> dict[tuple[int, int], EngineLoad]:
        """The last load of each worker that has reported one, by index and generation."""
        with self._changed:
            return {(s.index, s.generation): s.load for s in self._slots if s.load is not None and not s.retired}

    def submit(self, jobs: Sequence[GroupJob], seed: int, alone: bool) -> None:
        """Send groups to be sampled.

        Args:
            jobs: whole groups.
            seed: the seed of an idle engine's random state; each worker's differs.
            alone: the groups share their engines' steps with no others.
        """
        with self._changed:
            self._seed = seed
            parts: dict[int, list[GroupJob]] = {}
            for job in jobs:
                slot = min(self._takers(), key=_tokens)
                slot.held[job.name] = job
                slot.sent += _weight(job)
                parts.setdefault(slot.index, []).append(job)
            for index, part in parts.items():
                slot = self._slots[index]
                if slot.up:
                    slot.handle.submit.remote(Submission(tuple(part), seed + index, alone, self._flush))

    def update(self, weights: WeightHandle, version: int, kv: KvOnUpdate, alone: bool) -> Future[ProbeFigures]:
        """Send new weights to all workers. Groups submitted from now on are sampled with them.

        Result: figures of the probes, once every worker has proved that it serves them; ``WeightsRefused`` if one has
        failed to.
        """
        with self._changed:
            self._weights, self._version = weights, version
            asked = [
                (slot, slot.generation, slot.handle.update.remote(weights, self._tolerance, self.floor, kv, alone))
                for slot in self._up()
            ]
        return self._updates.submit(self._await_update, version, asked)

    def score(self, sequences: list[list[int]]) -> Future[list[list[float]]]:
        """Log-probabilities of each sequence's tokens except the first, under the last weights that were sent.

        The result is an error if the chosen worker is lost, or has no room next to the groups it generates.
        """
        return self._ask("score", sequences)

    def sample(self, prompts: list[list[int]], max_tokens: int, seed: int) -> Future[list[list[int]]]:
        """Continuations of the prompts by the policy, at temperature 1, sampled by an otherwise idle worker.

        The result is an error if the chosen worker is lost.
        """
        return self._ask("sample", prompts, max_tokens, seed)

    def peak(self, dtype: str) -> Future[DevicePeak]:
        """Peak of an engine's device in this number type, measured by an otherwise idle worker.

        The result is an error if the worker is lost, or its device has no room for the matrices.
        """
        return self._ask("peak", dtype)

    def park(self) -> dict[str, Parked]:
        """Stop all groups and take back the unfinished ones. The others are delivered as usual."""
        with self._changed:
            asked = [(slot, slot.generation, slot.handle.park.remote()) for slot in self._slots if slot.up]
        parked: dict[str, Parked] = {}
        for slot, generation, ref in asked:
            try:
                answer: dict[str, Parked] = ray.get(ref)
            except RayError:
                continue  # its thread notices, and another engine finishes its groups
            with self._changed:
                if slot.generation == generation:
                    for name in answer:
                        del slot.held[name]
                    parked |= answer
        return parked

    def close(self) -> None:
        """Kill the actors. Threads that still work with them stop instead of replacing them."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            for slot in self._slots:
                ray.kill(slot.handle, no_restart=True)
        self._updates.shutdown(wait=False, cancel_futures=True)

    # ── a worker's thread ──

    def _attend(self, slot: _Slot) -> None:
        observed = HealthWatch()
        try:
            if slot.absent:
                self._join(slot)
            while not self._closed and not slot.retired and self._failure is None:
                # An engine answers the first call immediately: later loads are compared with its first one.
                patience = watch.WATCH_S if slot.load is not None else 0.0
                try:
                    collected = self._collect(slot, patience)
                    observed.look(collected.load)
                except (RayError, TimeoutError) as error:
                    observed = HealthWatch()
                    self._replace(slot, reason(slot.drained or error))
                else:
                    self._receive(slot, collected)
                    if slot.drained is not None:  # killed while cut off: it does not know that it must end
                        observed = HealthWatch()
                        self._replace(slot, reason(slot.drained))
        except Exception as error:
            with self._changed:
                if not self._closed:
                    log.exception("rollout worker %d", slot.index)
                    self._give_up(RolloutError(f"Rollout worker {slot.index}: {type(error).__name__}: {error}"))

    def _collect(self, slot: _Slot, patience: float) -> Collected:
        """Its finished groups. Raises ``TimeoutError`` if it does not answer; one on a node that is cut off has longer
        than one that was stopped."""
        asked = slot.handle.collect.remote(patience)
        found: Collected
        try:
            found = ray.get(asked, timeout=watch.SILENT_S)
        except TimeoutError as silence:
            node = self._node_of(slot.index)
            if node is not None and node_answers(node):
                raise watch.StoppedError from silence
            found = ray.get(asked, timeout=max(0.0, watch.HUNG_S - watch.SILENT_S))
        return found

    def _receive(self, slot: _Slot, collected: Collected) -> None:
        with self._changed:
            for name in collected.names:
                del slot.held[name]
            slot.load, slot.sent = collected.load, 0
            if collected.names:
                slot.failures = 0
        self._deliver(slot.index, collected)

    def _join(self, slot: _Slot) -> None:
        """Start an additional worker once it has room."""
        slot.awaited = True  # nothing is lost while it is absent
        try:
            self._bring_up(slot)
        except RayError as error:
            if (end := self._end(slot, error)) is not None:
                return self._give_up(end)
            self._replace(slot, reason(error))

    def _replace(self, slot: _Slot, why: str) -> None:
        """Replace the slot's engine until one works. Retires the slot after too many failures."""
        while not self._closed:
            with self._changed:
                slot.up, slot.absent, slot.serving, slot.load, slot.sent = False, True, None, None, 0
                slot.drained = None
                slot.failures += 1
                slot.generation += 1
                if slot.failures > MAX_REPLACEMENTS:
                    return self._retire(slot, why)
                if any(self._up()):
                    self._hand_on(slot)
                self._changed.notify_all()
            self._notify("A rollout worker was replaced", f"Rollout worker {slot.index} {why}.")
            ray.kill(slot.handle, no_restart=True)
            self._make(slot)
            try:
                return self._bring_up(slot)
            except RayError as error:
                if (end := self._end(slot, error)) is not None:
                    return self._give_up(end)
                why = reason(error)

    def _bring_up(self, slot: _Slot) -> None:
        """Start the new engine, prove the current weights, and send it the groups that no running worker holds."""
        self._await_room(slot)
        ray.get(slot.handle.start.remote(self._config))
        while True:
            with self._changed:
                weights, version = self._weights, self._version
                if weights is None or slot.serving == version:
                    slot.up, slot.absent = True, False
                    for other in self._slots:
                        if other.absent:
                            slot.held |= other.held
                            other.held = {}
                    if slot.held:
                        self.regenerated += len(slot.held)
                        jobs = tuple(slot.held.values())
                        slot.handle.submit.remote(Submission(jobs, self._seed + slot.index, False, self._flush))
                    self._changed.notify_all()
                    break
            asked = slot.handle.update.remote(weights, self._tolerance, self.floor, "recompute", False)
            self._passed(slot, ray.get(asked))
        if slot.awaited:
            slot.awaited = False
            self._notify("A rollout worker has joined", f"Rollout worker {slot.index} has room and now samples.")

    def _await_room(self, slot: _Slot) -> None:
        """Wait, without a timeout, until the cluster has created the worker's process.

        A process that could not be created is not an engine's failure: Ray keeps placing actors on a dead node until it
        notices.
        """
        since = time.monotonic()
        made = slot.handle.__ray_ready__.remote()
        while not self._closed:
            if ray.wait([made], timeout=POLL_S)[0]:
                try:
                    ray.get(made)
                except RayActorError as error:
                    log.warning("rollout worker %d was not created: %s", slot.index, error)
                    with self._changed:
                        self._changed.wait_for(lambda: self._closed, AGAIN_S)
                        slot.generation += 1
                    self._make(slot)
                    made = slot.handle.__ray_ready__.remote()
                else:
                    break
            if not slot.awaited and time.monotonic() - since > ROOM_S and self._node_of(slot.index) is None:
                self._tell_waiting(slot)
        if slot.awaited:
            slot.failures = 0  # its failures were caused by its last node

    def _make(self, slot: _Slot) -> None:
        """Start a new actor for the slot, unless all have been killed: nothing would kill this one."""
        with self._changed:
            if not self._closed:
                slot.handle = self._spawn(slot.index, slot.generation)

    def _tell_waiting(self, slot: _Slot) -> None:
        slot.awaited = True
        go_on = "The others continue without it until one has" if any(self._up()) else "The run continues when one has"
        self._notify(
            "A rollout worker waits for room",
            f"No node of the cluster has room for rollout worker {slot.index}. {go_on}.",
        )

    def _up(self) -> Iterator[_Slot]:
        return (slot for slot in self._slots if slot.up and not slot.retired)

    def _takers(self) -> list[_Slot]:
        """Workers that may be sent groups: those that are up, or, if there are none, those that are starting."""
        return list(self._up()) or [slot for slot in self._slots if not slot.retired]

    def _hand_on(self, slot: _Slot) -> None:
        """Give a worker's groups to others. Called with the lock held."""
        jobs, slot.held = list(slot.held.values()), {}
        if jobs:
            self.regenerated += len(jobs)
            self.submit(jobs, self._seed, False)

    def _retire(self, slot: _Slot, why: str) -> None:
        """Give up the slot. Called with the lock held."""
        slot.retired = True
        ray.kill(slot.handle, no_restart=True)
        sentence = f"Rollout worker {slot.index} {why}, and so did {MAX_REPLACEMENTS} replacements."
        if all(other.retired for other in self._slots):
            # If no worker can reach the learner, a new attempt starts it again.
            self._give_up(LearnerLost(sentence) if why == watch.UNREACHED else RolloutError(sentence))
        else:
            self._notify("A rollout worker was abandoned", sentence)
            self._hand_on(slot)
        self._changed.notify_all()

    def _give_up(self, error: RolloutError | LearnerLost) -> None:
        with self._changed:
            self._failure = self._failure or error
            self._changed.notify_all()
        self._failed()

    def _ask(self, method: str, *arguments: Any) -> Future[Any]:
        """Call the least busy worker. Returns the future of its answer."""
        with self._changed:
            slot = min(self._up(), key=_tokens, default=None)
            if slot is None:
                refused: Future[Any] = Future()
                refused.set_exception(RolloutError("no rollout worker is running"))
                return refused
            answer: Future[Any] = getattr(slot.handle, method).remote(*arguments).future()
        return answer

    def _passed(self, slot: _Slot, answer: Updated) -> None:
        """Record what a worker serves, and report a probe that passed only after a second loading."""
        slot.serving, slot.probe = answer.version, answer.probe
        if answer.probe.retried:
            message = (
                f"Rollout worker {slot.index} failed its probe ({answer.probe.retried}). It received all weights again"
                " and passes."
            )
            self._notify("Weights were loaded a second time", message)

    def _await_update(self, version: int, asked: list[tuple[_Slot, int, ray.ObjectRef]]) -> ProbeFigures:
        for slot, generation, ref in asked:
            try:
                answer: Updated = ray.get(ref)
            except RayError as error:
                self._drain(slot, generation, error)
                continue
            with self._changed:
                if slot.generation == generation:
                    self._passed(slot, answer)
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._failure is not None or self._all_serve(version))
            self.check()
            passed = [slot.probe for slot in self._up() if slot.probe is not None]
            if not passed:
                raise RolloutError("The engines were closed while they received new weights.")
            figures = reduce(ProbeFigures.worst, passed)
            self.floor = self.floor or figures.floor
            return figures

    def _all_serve(self, version: int) -> bool:
        """Whether a worker is up and all that are serve ``version``. Others prove it before they come up."""
        serving = [slot.serving for slot in self._up()]
        return bool(serving) and all(served is not None and served >= version for served in serving)

    def _drain(self, slot: _Slot, generation: int, error: RayError) -> None:
        """Stop sending to a worker that did not receive new weights. Its thread replaces it."""
        if (end := self._end(slot, error)) is not None:
            return self._give_up(end)
        with self._changed:
            if slot.generation != generation or self._closed:
                return
            slot.up, slot.serving, slot.drained = False, None, error
            if isinstance(error, RayTaskError):
                self._notify("A rollout worker was drained", f"Rollout worker {slot.index} {reason(error)}.")
            # A worker that was only briefly cut off would continue with the previous weights, yet never be used again.
            ray.kill(slot.handle, no_restart=True)

    def _end(self, slot: _Slot, error: RayError) -> WeightsRefused | LearnerLost | None:
        """Consequence of the error for the run, if no new engine would do better; None if one may."""
        cause = getattr(error, "cause", error)  # the engine's own error, or Ray's if it could not deliver the weights
        if isinstance(cause, ObjectLostError | WeightsUnread) and not self._learner_lives():
            return LearnerLost(f"The learner's process that held the weights for rollout worker {slot.index} died.")
        if not isinstance(cause, ProbeFailed):
            return None
        message = f"Rollout worker {slot.index} does not compute with the new weights: {cause}"
        return WeightsRefused(message, by_noise=cause.by_noise)


def _weight(job: GroupJob) -> int:
    return len(job.prompt) * job.samples


def _tokens(slot: _Slot) -> int:
    return (slot.load.running_tokens if slot.load is not None else 0) + slot.sent
