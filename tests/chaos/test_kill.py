"""``kill -9`` of any worker process in mid-run: the run goes on, and its charts have no double and no missing step."""

from typing import Any

import pytest

from tests.support.installation import Installation, wait_until

pytestmark = [pytest.mark.chaos, pytest.mark.slow, pytest.mark.timeout(420)]

STEPS = 14
VICTIMS = {
    "controller": "ray::RunController",
    "rollout": "ray::RolloutWorker",
    "learner": "ray::LearnerWorker",
    "celery": "worker.cluster.app",
}


MODES: dict[str, dict[str, Any]] = {
    "sync": {"type": "sync"},
    "streamed": {"type": "streamed"},
    "async": {"type": "async", "max_staleness": 2},
    "in_flight": {"type": "in_flight", "max_staleness": 4},
}
CASES = [*((victim, "async") for victim in VICTIMS), *(("rollout", mode) for mode in MODES if mode != "async")]


def demo_spec(installation: Installation, steps: int, mode: str) -> dict[str, Any]:
    """The demo's recipe, made small."""
    recipes = installation.api.get("/spec/recipes")["data"]
    spec = next(recipe for recipe in recipes if recipe["name"] == "demo")["spec"]
    # Four groups a step: the platform is told of all of them.
    spec["schedule"] = {"steps": steps, "prompts_per_step": 4}
    spec["rollout"] |= {"group_size": 4, "mode": MODES[mode]}
    spec["checkpoint"] = {"every_steps": 4}
    spec["evaluation"] = {"every_steps": 100, "max_prompts": 8, "sources": spec["evaluation"]["sources"]}
    return spec


@pytest.mark.parametrize(("victim", "mode"), CASES)
def test_run_survives_kill(installation: Installation, victim: str, mode: str) -> None:
    api = installation.api
    document = {"name": f"kill {victim}, {mode}", "spec": demo_spec(installation, STEPS, mode), "start": True}
    run = api.post("/runs", document)
    path = f"/runs/{run['id']}"

    def now() -> dict[str, Any]:
        return api.get(path)

    def story() -> str:
        return f"{now()['state']} step {now()['step']} {now()['state_reason']}\n{installation.log_tail()}"

    wait_until(lambda: now()["step"] >= 6, 120, story)
    priorities = {title: installation.process(title).nice() for title in ("raylet", "ray::LearnerWorker")}
    assert len(set(priorities.values())) == 1, f"Ray takes priority from its workers: {priorities}"
    installation.kill(VICTIMS[victim])
    wait_until(lambda: now()["state"] in ("succeeded", "failed", "cancelled"), 240, story)

    assert now()["state"] == "succeeded", story()
    assert now()["step"] == STEPS
    chart = api.get(f"{path}/metrics", keys="critic/score/mean", x="step", max_points=10_000)
    series = chart["series"]["critic/score/mean"]
    assert series["x"] == list(range(1, STEPS + 1))
    assert series["raw_count"] == STEPS
    if victim == "rollout":
        trained = [name for step in range(1, STEPS + 1) for name in _groups(installation, path, step)]
        drawn = [f"{step}-{index}" for step in range(1, STEPS + 1) for index in range(4)]
        assert sorted(trained) == sorted(drawn), "every group that was dispatched is trained on once"


def _groups(installation: Installation, path: str, step: int) -> set[str]:
    rows = installation.api.get(f"{path}/rollouts", step=step, limit=200)["data"]
    return {row["group_id"] for row in rows}
