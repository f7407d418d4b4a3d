"""Shared by the loop's tests: one Ray for all, a platform per test, and a run to be started on both."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest

from tests.support.about import TRAINING
from tests.support.installation import wait_until
from tests.worker.loop.platform_double import CLUSTER_SECRET, PlatformDouble
from trainer_core.spec import RunSpec

if TYPE_CHECKING:
    # Ray reads a cluster's token when it is imported, and tests of closed clusters use this file, too.
    from tests.support.warm_loop import WarmLoop

ROOT = Path(__file__).resolve().parents[3]
POLICY = ROOT / "demo" / "starter-policy"
RUN_CPU_S = 8.0
"""Processor seconds of a short run on kept processes."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever borrows the warm loop trains a run. A test whose run costs more than most says so itself."""
    for item in items:
        if "warm_loop" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.live)
            if item.get_closest_marker("expensive") is None:
                item.add_marker(pytest.mark.expensive(RUN_CPU_S, "trains a short run", about=TRAINING))


@pytest.fixture
def platform() -> Iterator[PlatformDouble]:
    double = PlatformDouble()
    yield double
    double.close()


def rows(name: str, count: int) -> list[dict[str, Any]]:
    lines = (ROOT / "demo" / "data" / f"{name}.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines[:count]]


def tiny_spec(**changes: Any) -> dict[str, Any]:
    """A run of a few small steps on the starter policy."""
    spec: dict[str, Any] = {
        "policy": {"base": "starter"},
        "data": {"sources": [{"name": "add", "dataset": "add@1"}, {"name": "mul", "dataset": "mul@1", "weight": 0.0}]},
        "reward": {"definition": "calculation@1"},
        "rollout": {
            "group_size": 4,
            "max_tokens": 24,
            "engine": {"max_model_len": 64, "max_num_seqs": 64, "kv_cache_gib": 0.05},
        },
        "thinking": {"type": "tags"},
        "optimizer": {"learning_rate": 3e-4},
        "parallelism": {"max_tokens_per_microbatch": 4096},
        "schedule": {"steps": 6, "prompts_per_step": 8},
        "checkpoint": {"every_steps": 2},
        "evaluation": {"every_steps": 3, "max_prompts": 8, "sources": [{"name": "held_out", "dataset": "eval@1"}]},
    }
    for path, value in changes.items():
        *parents, last = path.split("__")
        node = spec
        for parent in parents:
            node = node.setdefault(parent, {})
        node[last] = value
    return spec


def pausing_after(step: int) -> dict[str, Any]:
    """Parts of a spec whose run pauses itself when ``step`` is done, and at no later one.

    A pause by request comes some steps late, and on a busy machine after the last. This is a guard, which the loop asks
    after each step: it acts while the learning rate still warms up.
    """
    return {
        "optimizer": {"learning_rate": 3e-4, "warmup_steps": step + 1},
        "guards": [{"type": "metric_bound", "metric": "actor/lr", "min": 2.9e-4, "for_steps": step, "action": "pause"}],
    }


REWARD = {
    "components": [{"name": "right", "weight": 1.0, "grader": {"type": "numeric"}}],
    "success_threshold": 0.5,
}


class Launcher:
    """Starts attempts of a run through the very task that Celery calls."""

    def __init__(self, platform: Any, folder: Path) -> None:
        self.platform, self.folder = platform, folder
        self.started: list[tuple[str, int]] = []

    def prepare(self, spec: dict[str, Any], **changes: Any) -> None:
        """Fill the platform's bundle."""
        datasets = {
            "add@1": self.platform.add_dataset("add@1", rows("gsm8k-add-sub", 64)),
            "mul@1": self.platform.add_dataset("mul@1", rows("gsm8k-mul", 64)),
            "eval@1": self.platform.add_dataset("eval@1", rows("gsm8k-eval", 16)),
        }
        self.platform.bundle = {
            "run_id": self.run_id,
            "attempt": 1,
            "spec": spec,
            "revision": 0,
            "policy": {"name": "starter", "path": str(POLICY)},
            "reward": {"ref": "calculation@1", "definition": REWARD},
            "datasets": datasets,
            "resume": None,
            "run_dir": str(self.folder / "run"),
            "lease_s": 15,
            **changes,
        }

    @property
    def run_id(self) -> str:
        return f"run_{self.folder.name}"

    def start(self) -> bool:
        from worker.tasks import start

        attempt = self.platform.bundle["attempt"]
        self.started.append((self.run_id, attempt))
        with patch.dict(os.environ, {"DRESSAGE_CLUSTER_SECRET": CLUSTER_SECRET}):
            return start(self.run_id, attempt, self.platform.url)

    def start_from_another_process(self) -> None:
        """As the Celery worker does it: connect to the cluster, start, and be gone."""
        import ray

        attempt = self.platform.bundle["attempt"]
        self.started.append((self.run_id, attempt))
        call = f"start({self.run_id!r}, {attempt}, {self.platform.url!r})"
        environment = {**os.environ, "RAY_ADDRESS": ray.get_runtime_context().gcs_address, "PYTHONPATH": str(ROOT)}
        environment["DRESSAGE_CLUSTER_SECRET"] = CLUSTER_SECRET
        program = f"from worker.tasks import start; raise SystemExit(0 if {call} else 1)"
        subprocess.run([sys.executable, "-c", program], env=environment, check=True, cwd=ROOT)

    def actors(self) -> list[str]:
        """Names of this run's live actors."""
        import ray

        return [
            entry["name"]
            for entry in ray.util.list_named_actors(all_namespaces=True)
            if entry["name"].startswith(f"run-{self.run_id}-")
        ]

    def until_gone(self, timeout_s: float = 30.0) -> None:
        """Wait until Ray knows no actor of the run any more."""
        wait_until(lambda: not self.actors(), timeout_s, lambda: f"left: {self.actors()}")

    def stop(self) -> None:
        from worker.tasks import stop

        for run_id, attempt in self.started:
            stop(run_id, attempt)


@pytest.fixture
def launcher(cluster: None, platform: Any, tmp_path: Path) -> Iterator[Launcher]:
    made = Launcher(platform, tmp_path)
    yield made
    made.stop()


class WarmLauncher(Launcher):
    """Starts runs in this process, one after the other, on an engine and a learner that are kept between them."""

    def __init__(self, loop: "WarmLoop", platform: Any, folder: Path) -> None:
        super().__init__(platform, folder)
        self._loop = loop
        self._run = threading.Thread()
        self._failure: BaseException | None = None

    def start(self) -> bool:
        self._run = threading.Thread(target=self._train, daemon=True)
        self._run.start()
        return True

    def until_gone(self, timeout_s: float = 30.0) -> None:
        """Wait until the run has let go of engine and learner; what ended it otherwise is raised here."""
        self._run.join(timeout_s)
        assert not self._run.is_alive(), self.platform.describe()
        if self._failure is not None:
            raise self._failure

    def stop(self) -> None:
        """A run that its test has left takes nothing along into the next one."""
        if self._run.is_alive():
            self.platform.desired_state = "cancelled"
            self.until_gone(60.0)

    def _train(self) -> None:
        try:
            self._loop.run(self.platform, self.platform.bundle)
        except BaseException as failure:
            self._failure = failure


@pytest.fixture(scope="session")
def warm_loop(cluster: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator["WarmLoop"]:
    """Engine and learner of all runs that need no fresh ones: tests that use it come last, see tests/conftest.py."""
    from tests.support.warm_loop import WarmLoop

    with WarmLoop(tmp_path_factory.mktemp("warm")) as loop:
        loop.warm_up(POLICY, RunSpec.model_validate(tiny_spec()))
        yield loop


@pytest.fixture
def warm_launcher(warm_loop: "WarmLoop", platform: Any, tmp_path: Path) -> Iterator[WarmLauncher]:
    """As ``launcher``, where engine and learner may be those of the run before."""
    made = WarmLauncher(warm_loop, platform, tmp_path)
    yield made
    made.stop()


@pytest.fixture
def spec() -> Callable[..., dict[str, Any]]:
    return tiny_spec
