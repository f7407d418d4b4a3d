"""The router where the cluster has no room for an engine: actors are stand-ins, whose processes come when told to."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from ray.exceptions import (
    ActorDiedError,
    ActorUnavailableError,
    ObjectLostError,
    OwnerDiedError,
    RayError,
    RayTaskError,
)

from tests.support.installation import wait_until
from worker.engine import EngineConfig, Sampling
from worker.errors import LearnerLost, RolloutError, WeightsRefused, WeightsUnread
from worker.learner.probe.errors import ProbeFailed
from worker.messages.jobs import Collected, EngineLoad, GroupJob, Submission
from worker.rollout import health as watch
from worker.rollout import router as router_module
from worker.rollout.router import Router


class Method:
    """A method of an actor: answers what its function returns, or when the actor has come, or that it has died."""

    def __init__(self, actor: Actor, answer: Callable[..., Any]) -> None:
        self._actor, self._answer = actor, answer

    def remote(self, *arguments: Any) -> Future[Any]:
        return self._actor.call(self._answer, arguments)


@dataclass
class Actor:
    """An actor of a rollout worker."""

    index: int
    generation: int
    here: bool

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self.dead = False
        self.failing: RayError | None = None
        """Error of the next updates; it goes on answering all else."""
        self.taken: list[str] = []
        self._waiting: list[tuple[Future[Any], Callable[..., Any], tuple[Any, ...]]] = []
        self._collecting: list[Future[Any]] = []
        for name in ("__ray_ready__", "start", "submit", "update"):
            setattr(self, name, Method(self, getattr(self, f"_{name.strip('_')}")))
        self.collect = SimpleNamespace(remote=self._collect)

    def call(self, answer: Callable[..., Any], arguments: tuple[Any, ...]) -> Future[Any]:
        future: Future[Any] = Future()
        with self._lock:
            if self.dead:
                future.set_exception(ActorDiedError())
            elif self.here:
                _fulfil(future, answer, arguments)
            else:
                self._waiting.append((future, answer, arguments))
        return future

    def come(self) -> None:
        """Have its process made."""
        with self._lock:
            self.here = True
            for future, answer, arguments in self._waiting:
                _fulfil(future, answer, arguments)

    def die(self) -> None:
        with self._lock:
            self.dead = True
            for future in [*self._collecting, *(waiting[0] for waiting in self._waiting)]:
                if not future.done():
                    future.set_exception(ActorDiedError())

    def answer(self) -> None:
        """Answer who waits for what it has finished."""
        with self._lock:
            for future in self._collecting:
                if not future.done():
                    future.set_result(nothing())

    def _collect(self, patience: float) -> Future[Any]:
        future: Future[Any] = Future()
        with self._lock:
            self._collecting.append(future)
            if self.dead:
                future.set_exception(ActorDiedError())
            elif patience == 0.0:
                future.set_result(nothing())
        return future

    def _ray_ready(self) -> bool:
        return True

    def _start(self, config: EngineConfig) -> float:
        return 1.0

    def _submit(self, submission: Submission) -> None:
        self.taken += [job.name for job in submission.groups]

    def _update(self, weights: Any, *others: Any) -> Any:
        if self.failing is not None:
            raise self.failing
        if isinstance(weights, Exception):
            raise weights
        return SimpleNamespace(version=weights, probe=SimpleNamespace(retried="", floor=None))


def _fulfil(future: Future[Any], answer: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    try:
        future.set_result(answer(*arguments))
    except RayError as error:
        future.set_exception(error)


def nothing() -> Collected:
    load = EngineLoad.__new__(EngineLoad)
    for field, value in (("running_tokens", 0), ("ticks", 0), ("idle", True)):
        object.__setattr__(load, field, value)
    return Collected(names=(), chunk=None, load=load, kv_usage=0.0, pauses=(), spans=())


def at_work() -> list[str]:
    """Threads of routers."""
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("rollout-")]


class Cluster:
    """Stand-in for Ray, and the actors that were asked of it."""

    def __init__(self) -> None:
        self.room = True
        self.failing: RayError | None = None
        """Error of the updates of actors that are yet to be made."""
        self.actors: list[Actor] = []
        self.node: str | None = None
        """The node that has room for every engine, if it is known."""
        self.answering = True
        """Whether that node can be reached."""
        self.waits: list[float | None] = []
        """How long answers were waited for."""

    def spawn(self, index: int, generation: int) -> Any:
        actor = Actor(index, generation, self.room)
        actor.failing = self.failing
        self.actors.append(actor)
        return self.actors[-1]

    def get(self, ref: Future[Any], timeout: float | None = None) -> Any:
        self.waits.append(timeout)
        return ref.result(timeout)

    def wait(self, refs: list[Future[Any]], timeout: float) -> tuple[list[Future[Any]], list[Future[Any]]]:
        done = threading.Event()
        refs[0].add_done_callback(lambda _: done.set())
        done.wait(timeout)
        return ([refs[0]], []) if refs[0].done() else ([], refs)

    def kill(self, actor: Actor, no_restart: bool) -> None:
        actor.die()

    def find(self, index: int, generation: int) -> Actor:
        wait_until(lambda: any((a.index, a.generation) == (index, generation) for a in self.actors), 10)
        return next(a for a in self.actors if (a.index, a.generation) == (index, generation))


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    made = Cluster()
    monkeypatch.setattr(router_module, "ray", made)
    monkeypatch.setattr(router_module, "node_answers", lambda node: node == made.node and made.answering)
    monkeypatch.setattr(router_module, "ROOM_S", 0.0)
    monkeypatch.setattr(router_module, "POLL_S", 0.01)
    monkeypatch.setattr(router_module, "AGAIN_S", 0.01)
    monkeypatch.setattr(router_module.ProbeFigures, "worst", staticmethod(lambda a, b: a))
    return made


@pytest.fixture
def told() -> list[str]:
    return []


@pytest.fixture
def make(cluster: Cluster, told: list[str]) -> Iterator[Callable[..., Router]]:
    routers: list[Router] = []

    def made(size: int, least: int | None = None, learner_lives: bool = False) -> Router:
        config = EngineConfig("nowhere")
        notify, lives = (lambda title, _: told.append(title)), (lambda: learner_lives)
        router = Router(cluster.spawn, size, config, 0.05, 4, notify, least, lives, lambda index: cluster.node)
        routers.append(router)
        router.serve(lambda index, found: None, lambda: None)
        return router

    yield made
    for router in routers:
        router.close()
    wait_until(lambda: not at_work(), 10)


def jobs(*names: str) -> list[GroupJob]:
    return [GroupJob(name, np.array([5, 16], np.int32), 1, Sampling(1.0, max_tokens=8)) for name in names]


def test_a_lost_engine_without_room_holds_nobody_up(
    make: Callable[..., Router], cluster: Cluster, told: list[str]
) -> None:
    router = make(2)
    first, second = cluster.actors
    router.submit(jobs("a", "b", "c", "d"), seed=1, alone=False)
    lost = list(second.taken)
    assert len(lost) == 2
    cluster.room = False
    second.die()
    fresh = cluster.find(1, 1)
    wait_until(lambda: set(first.taken) == {"a", "b", "c", "d"}, 10)
    assert router.regenerated == 2
    wait_until(lambda: told == ["A rollout worker was replaced", "A rollout worker waits for room"], 10)

    router.update(7, 7, "keep", False).result(10)  # type: ignore[arg-type]
    router.submit(jobs("e"), seed=2, alone=False)
    assert first.taken[-1] == "e" and fresh.taken == []

    fresh.come()
    wait_until(lambda: told[-1] == "A rollout worker has joined", 10)
    router.submit(jobs("f", "g"), seed=3, alone=False)
    assert fresh.taken == ["f", "g"], "it has less to do"


def test_the_last_engines_groups_wait_for_whichever_comes_first(
    make: Callable[..., Router], cluster: Cluster, told: list[str]
) -> None:
    router = make(2)
    router.submit(jobs("a", "b"), seed=1, alone=False)
    cluster.room = False
    for actor in list(cluster.actors):
        actor.die()
    fresh = cluster.find(0, 1)
    cluster.find(1, 1)
    wait_until(lambda: told.count("A rollout worker waits for room") == 2, 10)
    fresh.come()
    wait_until(lambda: sorted(fresh.taken) == ["a", "b"], 10)
    router.check()


def test_actors_that_cannot_be_made_are_no_failures_of_an_engine(
    make: Callable[..., Router], cluster: Cluster, told: list[str]
) -> None:
    make(2)
    cluster.room = False
    cluster.actors[1].die()
    for generation in range(1, 9):  # on a node of which Ray does not know that it is dead
        cluster.find(1, generation).die()
    cluster.find(1, 9).come()
    wait_until(lambda: told[-1] == "A rollout worker has joined", 10)
    assert told == [
        "A rollout worker was replaced",
        "A rollout worker waits for room",
        "A rollout worker has joined",
    ]


def test_a_run_begins_with_the_least_and_widens(make: Callable[..., Router], cluster: Cluster, told: list[str]) -> None:
    cluster.room = False
    router = make(3, least=1)
    first, second, third = cluster.actors
    first.come()
    assert len(router.started) == 1
    router.submit(jobs("a", "b"), seed=1, alone=False)
    assert first.taken == ["a", "b"]
    router.update(1, 1, "keep", False).result(10)  # type: ignore[arg-type]
    second.come()
    wait_until(lambda: told == ["A rollout worker has joined"], 10)
    assert router.regenerated == 0 and third.taken == []


GONE = OwnerDiedError("a" * 56, None, "")
FREED = WeightsUnread("the weights are no longer in the shared memory of process 7: it has ended or freed them")


@pytest.mark.parametrize(
    "gone",
    [
        GONE,
        RayTaskError("RolloutWorker.update", "", GONE),
        RayTaskError("RolloutWorker.update", "", ObjectLostError("a" * 56, None, "")),
        RayTaskError("RolloutWorker.update", "", FREED),
    ],
)
def test_weights_that_ended_with_the_learner_are_the_learners_loss(
    gone: RayError, make: Callable[..., Router], cluster: Cluster, told: list[str]
) -> None:
    router = make(2)
    with pytest.raises(LearnerLost, match=r"^The learner's process that held the weights"):
        router.update(gone, 7, "keep", False).result(10)
    with pytest.raises(LearnerLost):
        router.check()
    assert told == [] and len(cluster.actors) == 2, "no engine is at fault"


@pytest.mark.parametrize("hears", [True, False])
@pytest.mark.parametrize(
    "error",
    [
        ActorUnavailableError("cut off", None),
        GONE,
        RayTaskError("update", "", GONE),
        RayTaskError("update", "", FREED),
    ],
)
@pytest.mark.parametrize("size", [1, 2])
def test_an_engine_that_is_cut_off_is_replaced_as_one_that_dies(
    size: int,
    error: RayError,
    hears: bool,
    make: Callable[..., Router],
    cluster: Cluster,
    told: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    router = make(size, learner_lives=True)
    router.update(1, 1, "keep", False).result(10)  # type: ignore[arg-type]
    router.submit(jobs("a", "b"), seed=1, alone=False)
    cut_off = cluster.actors[0]
    cut_off.failing = error
    if not hears:  # its end comes with a last answer, not with an error
        monkeypatch.setattr(cut_off, "die", cut_off.answer)
    router.update(2, 2, "keep", False).result(10)  # type: ignore[arg-type]
    fresh = cluster.find(0, 1)
    wait_until(
        lambda: {name for actor in cluster.actors if actor is not cut_off for name in actor.taken} == {"a", "b"}, 10
    )
    router.check()
    assert "A rollout worker was replaced" in told
    router.update(3, 3, "keep", False).result(10)  # type: ignore[arg-type]
    assert not fresh.dead and len(cluster.actors) == size + 1


@pytest.mark.parametrize(
    ("error", "end", "says"),
    [
        (GONE, LearnerLost, "could not reach the learner's process"),
        (RayTaskError("update", "", GONE), LearnerLost, "could not reach the learner's process"),
        (RayTaskError("update", "", ValueError("no")), RolloutError, "failed: no"),
    ],
)
@pytest.mark.parametrize("size", [1, 2])
def test_a_learner_that_no_engine_reaches_is_lost_though_it_lives(
    size: int,
    error: RayError,
    end: type[Exception],
    says: str,
    make: Callable[..., Router],
    cluster: Cluster,
    told: list[str],
) -> None:
    router = make(size, learner_lives=True)
    cluster.failing = error
    for actor in cluster.actors:
        actor.failing = error
    with pytest.raises(end, match=rf"^Rollout worker \d {says}, and so did 3 replacements\.$") as raised:
        router.update(1, 1, "keep", False).result(10)  # type: ignore[arg-type]
    assert type(raised.value) is end
    with pytest.raises(end):
        router.check()
    assert len(cluster.actors) == 4 * size
    assert told.count("A rollout worker was abandoned") == size - 1


@pytest.mark.parametrize("by", ["another error", "a probe"])
def test_an_engine_that_fails_by_itself_is_no_loss_of_the_learner(
    by: str, make: Callable[..., Router], cluster: Cluster, told: list[str]
) -> None:
    router = make(2)
    error = ValueError("no") if by == "another error" else ProbeFailed(1, ("other scores",))
    cluster.actors[0].failing = RayTaskError("update", "", error)
    if by == "a probe":
        with pytest.raises(WeightsRefused):
            router.update(1, 1, "keep", False).result(10)  # type: ignore[arg-type]
    else:
        router.update(1, 1, "keep", False).result(10)  # type: ignore[arg-type]
        cluster.find(0, 1)
        router.check()


def test_a_new_engine_that_has_room_and_starts_slowly_does_not_wait_for_room(
    make: Callable[..., Router], cluster: Cluster, told: list[str]
) -> None:
    cluster.node = "n1"
    make(2)
    cluster.room = False
    cluster.actors[1].die()
    slow = cluster.find(1, 1)
    looked = threading.Event()
    wait, rounds = cluster.wait, []

    def counted(refs: list[Future[Any]], timeout: float) -> tuple[list[Future[Any]], list[Future[Any]]]:
        rounds.append(1)
        if len(rounds) > 3:
            looked.set()
        return wait(refs, timeout)

    cluster.wait = counted  # type: ignore[method-assign]
    assert looked.wait(10)
    assert told == ["A rollout worker was replaced"]
    cluster.node = None  # the node is lost, and no other has room
    wait_until(lambda: told[-1] == "A rollout worker waits for room", 10)
    cluster.node = "n2"
    slow.come()
    wait_until(lambda: told[-1] == "A rollout worker has joined", 10)
    assert told == ["A rollout worker was replaced", "A rollout worker waits for room", "A rollout worker has joined"]


def test_an_engine_that_is_stopped_is_replaced_before_one_that_is_cut_off(
    make: Callable[..., Router], cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "SILENT_S", 0.01)
    monkeypatch.setattr(watch, "HUNG_S", 3600.0)
    whys: list[str] = []
    replace = Router._replace

    def noting(router: Router, slot: Any, why: str) -> None:
        whys.append(why)
        replace(router, slot, why)

    monkeypatch.setattr(Router, "_replace", noting)
    cluster.node, cluster.answering = "n1", False
    router = make(1)
    router.submit(jobs("a"), seed=1, alone=False)
    wait_until(lambda: 3600.0 - 0.01 in cluster.waits, 10)
    assert (whys, len(cluster.actors)) == ([], 1), "its node does not answer either: it may come back"
    cluster.answering = True
    cluster.actors[0].answer()
    fresh = cluster.find(0, 1)
    wait_until(lambda: fresh.taken == ["a"], 10)
    assert whys[0] == "did not answer for 0.01 s"


def test_an_engine_of_which_no_node_is_known_has_the_longer_time(
    make: Callable[..., Router], cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "SILENT_S", 0.01)
    monkeypatch.setattr(watch, "HUNG_S", 3600.0)
    make(1)
    wait_until(lambda: 3600.0 - 0.01 in cluster.waits, 10)
    assert len(cluster.actors) == 1


def test_a_router_that_is_closed_starts_nobody(make: Callable[..., Router], cluster: Cluster) -> None:
    router = make(1)
    cluster.room = False
    cluster.actors[0].die()
    cluster.find(0, 1)
    router.close()
    count = len(cluster.actors)
    wait_until(lambda: not at_work(), 10)
    assert len(cluster.actors) == count and all(actor.dead for actor in cluster.actors)
