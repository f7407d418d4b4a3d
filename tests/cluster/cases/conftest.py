"""Shared by the cases: nodes, a connection to them, a platform, and runs on them."""

import os
import secrets
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.nodes import Nodes
from tests.support.own_network import INSIDE
from tests.worker.loop.conftest import Launcher, tiny_spec
from tests.worker.loop.platform_double import PlatformDouble


@pytest.fixture(scope="session", autouse=True)
def _own_network() -> None:
    if INSIDE not in os.environ:
        pytest.exit("These cases are told where their nodes meet: start them with `make test-cluster`.", returncode=2)


@pytest.fixture
def folder() -> Path:
    """A folder with a short path, for Ray's sockets."""
    return Path(tempfile.mkdtemp(prefix="n"))


@pytest.fixture(scope="session")
def token(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """File of the cluster's token. Ray reads it once: all cases of a process have the same."""
    file = tmp_path_factory.mktemp("closed") / "token"
    file.touch(mode=0o600)
    file.write_text(secrets.token_hex(32))
    return file


@pytest.fixture
def nodes(folder: Path, token: Path) -> Iterator[Nodes]:
    """A cluster that is closed by a token: its head alone, to which a case adds nodes."""
    closed = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(token)}
    with Nodes(folder, **closed) as cluster, cluster.connection():
        yield cluster


@pytest.fixture
def platform() -> Iterator[PlatformDouble]:
    double = PlatformDouble()
    yield double
    double.close()


@pytest.fixture
def launcher(nodes: Nodes, platform: PlatformDouble, tmp_path: Path) -> Iterator[Launcher]:
    made = Launcher(platform, tmp_path)
    yield made
    made.stop()


@pytest.fixture
def spec() -> Callable[..., dict[str, Any]]:
    return tiny_spec


def alerts(platform: PlatformDouble) -> list[str]:
    """Titles of what people have been told."""
    return [event["data"]["title"] for event in platform.of("alert")]


def until(platform: PlatformDouble, condition: Callable[[], bool]) -> None:
    """Wait until the condition holds after a sync; a run that fails meanwhile fails the case at once."""
    platform.wait(lambda: condition() or platform.states()[-1:] == ["failed"])
    assert condition(), platform.describe()


def until_alert(platform: PlatformDouble, title: str) -> None:
    """Wait until people have been told."""
    until(platform, lambda: title in alerts(platform))


def until_succeeded(platform: PlatformDouble) -> None:
    """Wait until the run has succeeded."""
    until(platform, lambda: platform.states()[-1:] == ["succeeded"])


def nodes_of(class_name: str, nodes: Nodes) -> list[str]:
    """Names of the nodes on which actors of a class run, in order."""
    found = []
    for name in nodes.names:
        titles = [process.cmdline() for process in nodes.processes(name)]
        found += [name for title in titles if title and title[0].startswith(f"ray::{class_name}")]
    return sorted(found)


def groups(platform: PlatformDouble) -> dict[str, int]:
    """Samples that were learned from, by group."""
    return dict(Counter(row["group_id"] for event in platform.of("rollouts") for row in event["data"]["rows"]))


def seconds_of_steps(platform: PlatformDouble) -> list[float]:
    """Seconds that each step took."""
    return [round(event["data"]["metrics"]["timing_s/step"], 2) for event in platform.of("step")]


def mean_of_steps(platform: PlatformDouble, metric: str, first: int, last: int) -> float:
    """Mean of a metric over steps, both ends counted; of those of them that have it."""
    found = [event["data"]["metrics"] for event in platform.of("step") if first <= event["step"] <= last]
    values = [metrics[metric] for metrics in found if metric in metrics]
    assert values, f"no step from {first} to {last} has told {metric}"
    return float(sum(values) / len(values))


def begin_on_two_nodes(nodes: Nodes, launcher: Launcher, document: dict[str, Any], steps: int = 1) -> str:
    """Train on nodes "a" and "b", an engine on each; returns the one without the learner after the first steps.

    Groups are small and nothing is evaluated or saved, so that a step takes a fraction of a second.
    """
    for name in ("a", "b"):
        nodes.add(name)
    nodes.until_alive(2)
    document["parallelism"]["rollout_workers"] = 2
    document["schedule"]["prompts_per_step"] = 4
    document["checkpoint"]["every_steps"] = 100
    document["evaluation"]["sources"] = []
    launcher.prepare(document)
    launcher.start()
    until(launcher.platform, lambda: len(launcher.platform.steps()) >= steps)
    (learner,) = nodes_of("LearnerWorker", nodes)
    return "a" if learner == "b" else "b"


def run_once(nodes: Nodes, platform: PlatformDouble, folder: Path, document: dict[str, Any]) -> None:
    """Train on one node."""
    nodes.add("a")
    nodes.until_alive(1)
    launcher = Launcher(platform, folder)
    launcher.prepare(document)
    launcher.start()
    platform.wait(lambda: platform.states()[-1:] in (["succeeded"], ["failed"]))
    launcher.stop()
