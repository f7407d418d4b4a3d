"""What the web tier imports must not bring torch along."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "module",
    [
        "trainer_core.spec",
        "trainer_core.spec.recipes",
        "trainer_core.explain",
        "trainer_core.metrics",
        "trainer_core.rewards",
        "trainer_core.rewards.overlong",
        "trainer_core.rollout_metrics",
        "trainer_core.planning",
        "trainer_core.planning.from_run",
        "trainer_core.diagnosis",
        "trainer_core.diagnosis.incidents",
        "trainer_core.steering.curriculum",
        "trainer_core.steering.guards",
    ],
)
def test_imports_without_torch(module: str) -> None:
    code = f"import sys, {module}; print(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(result.stdout.split())
    assert module.partition(".")[0] in loaded
    assert not loaded & {"torch", "vllm", "ray", "deepspeed", "transformers", "django"}


@pytest.mark.expensive(7, "imports rooms in processes of their own", about=("trainer_core", "worker"))
def test_a_controller_starts_without_the_policy() -> None:
    """It never computes with one, and what it imports delays each start of a run."""
    modules = "worker.loop.controller, worker.loop.startup, worker.loop.run"
    code = f"import sys, {modules}; print(*{{'transformers', 'vllm', 'deepspeed', 'torch._dynamo'}} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.split() == []


HEAVY = {"torch", "transformers", "vllm", "deepspeed", "sympy", "scipy", "pandas"}


@pytest.mark.expensive(4, "imports a room in a process of its own", about=("trainer_core", "worker"))
@pytest.mark.parametrize(
    ("module", "never"),
    [
        ("worker.tasks", HEAVY),
        ("worker.loop.controller", HEAVY),
        ("worker.rewards.worker", HEAVY),
        ("worker.rollout.worker", HEAVY | {"trainer_core.rewards", "trainer_core.link.bundle"}),
        ("worker.learner.ranks", HEAVY - {"torch", "sympy"} | {"trainer_core.rewards", "trainer_core.link.bundle"}),
    ],
)
def test_a_process_of_a_run_is_there_before_what_only_its_work_needs(module: str, never: set[str]) -> None:
    code = f"import sys, {module}; print(*sorted({never!r} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.split() == []
