"""``kill -9`` of any worker process in mid-run: the run goes on, and its charts have no double and no missing step."""

from typing import Any

import pytest

from tests.support.installation import Installation, wait_until

pytestmark = [pytest.mark.chaos, pytest.mark.slow, pytest.mark.timeout(420)]

STEPS = 24
VICTIMS = {
    "controller": "ray::RunController",
    "rollout": "ray::RolloutWorker",
    "learner": "ray::LearnerWorker",
    "celery": "worker.celery_app",
}


def _spec(installation: Installation, steps: int) -> dict[str, Any]:
    recipes = installation.api.get("/spec/recipes")["data"]
    spec = next(recipe for recipe in recipes if recipe["name"] == "demo")["spec"]
    spec["schedule"] = {"steps": steps, "prompts_per_step": 8}
    spec["rollout"]["group_size"] = 4
    spec["checkpoint"] = {"every_steps": 4}
    spec["evaluation"] = {"every_steps": 100, "max_prompts": 8, "sources": spec["evaluation"]["sources"]}
    return spec


@pytest.mark.parametrize("victim", VICTIMS)
def test_run_survives_kill(installation: Installation, victim: str) -> None:
    api = installation.api
    run = api.post("/runs", {"name": f"kill {victim}", "spec": _spec(installation, STEPS), "start": True})
    path = f"/runs/{run['id']}"

    def now() -> dict[str, Any]:
        return api.get(path)

    def story() -> str:
        return f"{now()['state']} step {now()['step']} {now()['state_reason']}\n{installation.log_tail()}"

    wait_until(lambda: now()["step"] >= 6, 120, story)
    installation.kill(VICTIMS[victim])
    wait_until(lambda: now()["state"] in ("succeeded", "failed", "cancelled"), 240, story)

    assert now()["state"] == "succeeded", story()
    assert now()["step"] == STEPS
    chart = api.get(f"{path}/metrics", keys="critic/score/mean", x="step", max_points=10_000)
    series = chart["series"]["critic/score/mean"]
    assert series["x"] == list(range(1, STEPS + 1))
    assert series["raw_count"] == STEPS
