"""The tasks of an attempt: the one that starts it may come twice, and the one that checks it reports only the dead."""

from typing import Any

import pytest
from ray.exceptions import RaySystemError

from tests.worker.loop.platform_double import CLUSTER_SECRET, PlatformDouble
from trainer_core.link.admission import attempt_path, lost_path
from worker import tasks


class Actor:
    """A controller as the task sees it."""

    def __init__(self) -> None:
        self.made: list[tuple[Any, ...]] = []
        self.told: list[tuple[str, str]] = []

    def make(self, name: str, actor_class: type, arguments: tuple[object, ...]) -> "Actor":
        self.made.append((name, *arguments))
        return self

    @property
    def begin(self) -> Any:
        class Method:
            remote = staticmethod(lambda *told: self.told.append(told) or len(self.told) == 1)

        return Method


@pytest.fixture
def actor(monkeypatch: pytest.MonkeyPatch) -> Actor:
    """Ray, as far as the task needs it, with one actor that does not work."""
    found = Actor()
    monkeypatch.setattr(tasks.cluster.ray, "is_initialized", lambda: True)
    monkeypatch.setattr(tasks.cluster, "find", lambda name: found if found.made else None)
    monkeypatch.setattr(tasks, "_make", found.make)
    monkeypatch.setattr(tasks.ray, "get", lambda answer: answer)
    monkeypatch.setenv("DRESSAGE_CLUSTER_SECRET", CLUSTER_SECRET)
    return found


def test_the_token_is_fetched_and_told_to_the_actor_alone(actor: Actor, platform: PlatformDouble) -> None:
    assert tasks.start("r", 1, platform.url) is True
    assert platform.asked == [attempt_path("r", 1)]
    assert actor.made == [("run-r-1", "r", 1)], "what Ray's head keeps holds no secret"
    assert actor.told == [(platform.url, platform.token)]


def test_a_message_that_comes_twice_makes_one_actor(actor: Actor, platform: PlatformDouble) -> None:
    assert tasks.start("r", 1, platform.url) is True
    assert tasks.start("r", 1, platform.url) is False
    assert len(actor.made) == 1


def test_an_actor_that_was_never_told_to_begin_is_told_by_the_next_message(
    actor: Actor, platform: PlatformDouble
) -> None:
    actor.make("run-r-1", object, ("r", 1))  # whoever made it was killed then
    assert tasks.start("r", 1, platform.url) is True
    assert (len(actor.made), len(actor.told)) == (1, 1)


def test_a_message_of_before_has_the_token_in_it(actor: Actor, platform: PlatformDouble) -> None:
    assert tasks.start("r", 1, platform.url, "lnk_of_before") is True
    bench = tasks.app.tasks["worker.tasks.bench"]
    assert bench("b", platform.url, token="bnc_of_before") is False  # the actor of this test has begun
    assert platform.asked == []
    assert [token for _, token in actor.told] == ["lnk_of_before", "bnc_of_before"]


def test_without_the_secret_nothing_is_made(
    actor: Actor, platform: PlatformDouble, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("DRESSAGE_CLUSTER_SECRET", "another secret")
    assert tasks.start("r", 1, platform.url) is False
    monkeypatch.delenv("DRESSAGE_CLUSTER_SECRET")
    assert tasks.start("r", 1, platform.url) is False
    assert actor.made == []
    assert "does not accept this worker" in caplog.text
    assert "run-r-1 cannot start: Neither DRESSAGE_CLUSTER_SECRET nor" in caplog.text


def test_a_platform_that_is_away_is_asked_by_the_next_message(
    actor: Actor, platform: PlatformDouble, caplog: pytest.LogCaptureFixture
) -> None:
    platform.close()
    assert tasks.start("r", 1, platform.url) is False
    assert "issues no token: Connect" in caplog.text
    assert actor.made == []


class Ray:
    """Named actors of a cluster, as Ray lists and finds them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.listed: list[str] = []
        self.found: list[str] = []
        monkeypatch.setattr(tasks.cluster.ray, "is_initialized", lambda: True)
        names = lambda all_namespaces: [{"name": name, "namespace": "dressage"} for name in self.listed]  # noqa: E731
        monkeypatch.setattr(tasks.cluster.ray.util, "list_named_actors", names)
        monkeypatch.setattr(tasks.cluster.ray, "get_actor", self.get_actor)
        monkeypatch.setenv("DRESSAGE_CLUSTER_SECRET", CLUSTER_SECRET)

    def get_actor(self, name: str, namespace: str) -> str:
        if name not in self.found:
            raise ValueError(f"no actor {name}")
        return name


def test_dead_controllers_are_reported_by_the_cluster(
    platform: PlatformDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    ray = Ray(monkeypatch)
    ray.listed = ray.found = ["run-r-1", "run-r-22", "run-r-2/rollout-0.0"]
    assert tasks.check([("r", 1), ("r", 2), ("s", 1)], platform.url) == ["run-r-2", "run-s-1"]
    assert platform.lost == [lost_path("r", 2), lost_path("s", 1)]


@pytest.mark.parametrize("known", ["listed", "found"])
def test_a_controller_of_which_ray_knows_is_not_reported(
    known: str, platform: PlatformDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    setattr(Ray(monkeypatch), known, ["run-r-2"])
    assert tasks.check([("r", 2)], platform.url) == []
    assert platform.lost == []


def test_a_ray_that_does_not_answer_says_nothing_of_a_controller(
    platform: PlatformDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    Ray(monkeypatch)

    def silent(all_namespaces: bool) -> None:
        raise RaySystemError("the head does not answer")

    monkeypatch.setattr(tasks.cluster.ray.util, "list_named_actors", silent)
    with pytest.raises(RaySystemError):
        tasks.check([("r", 2)], platform.url)
    assert platform.lost == []


def test_a_platform_that_does_not_take_the_report_is_left_to_the_lease(
    platform: PlatformDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    Ray(monkeypatch)
    platform.status = 409  # it has heard of the attempt since
    assert tasks.check([("r", 2)], platform.url) == []
    platform.close()
    assert tasks.check([("r", 2)], platform.url) == []
    monkeypatch.delenv("DRESSAGE_CLUSTER_SECRET")
    assert tasks.check([("r", 2)], platform.url) == []
