"""A run that really trains in an installation, and that stands still while a test looks at it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from secrets import token_hex
from typing import Any

from tests.support.installation import Api, Installation, wait_until

ENDED = ("succeeded", "failed", "cancelled")
MODES: dict[str, dict[str, Any]] = {
    "sync": {"type": "sync"},
    "streamed": {"type": "streamed"},
    "async": {"type": "async", "max_staleness": 2},
    "in_flight": {"type": "in_flight", "max_staleness": 4},
}


def demo_spec(api: Api) -> dict[str, Any]:
    """The demo's recipe."""
    recipes = api.get("/spec/recipes")["data"]
    spec: dict[str, Any] = next(recipe for recipe in recipes if recipe["name"] == "demo")["spec"]
    return spec


def small_spec(api: Api, steps: int, mode: str = "async") -> dict[str, Any]:
    """The demo's recipe, made small."""
    spec = demo_spec(api)
    # Four groups a step: the platform is told of all of them.
    spec["schedule"] = {"steps": steps, "prompts_per_step": 4}
    spec["rollout"] |= {"group_size": 4, "mode": MODES[mode]}
    spec["checkpoint"] = {"every_steps": 4}
    spec["evaluation"] = {"every_steps": 100, "max_prompts": 8, "sources": spec["evaluation"]["sources"]}
    return spec


class LiveRun:
    """A run of an installation, by its id."""

    def __init__(self, installation: Installation, run_id: str, name: str, api: Api | None = None) -> None:
        """``api`` is the client of the run's team; by default that of the installation's first admin."""
        self.installation, self.api = installation, api or installation.api
        self.id, self.name = run_id, name

    @classmethod
    def start(cls, installation: Installation, name: str, spec: Mapping[str, Any], api: Api | None = None) -> LiveRun:
        """A new run. Its name begins with ``name``, and no other run has it."""
        body = {"name": f"{name} {token_hex(3)}", "spec": dict(spec), "start": True}
        made = (api or installation.api).post("/runs", body)
        return cls(installation, made["id"], made["name"], api)

    def now(self) -> dict[str, Any]:
        """The run as the API shows it."""
        found: dict[str, Any] = self.api.get(f"/runs/{self.id}")
        return found

    @property
    def step(self) -> int:
        return int(self.now()["step"])

    def controls(self) -> list[dict[str, Any]]:
        """Its controls, newest first."""
        found: list[dict[str, Any]] = self.api.get(f"/runs/{self.id}/controls")["data"]
        return found

    def steer(self, target: str, value: Any) -> None:
        """Stage a change of one field."""
        revision = self.now()["revision"]
        body = {"target": target, "value": value}
        self.api.post(f"/runs/{self.id}/controls", body, **{"If-Match": f'"{revision}"'})

    def series(self, metric: str) -> dict[str, Any]:
        """One metric by step, with all of its points."""
        answer = self.api.get(f"/runs/{self.id}/metrics", keys=metric, x="step", max_points=10_000)
        found: dict[str, Any] = answer["series"].get(metric, {"x": [], "mean": [], "raw_count": 0})
        return found

    def story(self) -> str:
        """What is known of the run, for the message of a test that has failed."""
        now = self.now()
        return f"{now['state']} step {now['step']} {now['state_reason']}\n{self.installation.log_tail()}"

    def wait_for(self, *states: str, seconds: float = 120) -> dict[str, Any]:
        """The run, once it is in one of ``states``."""
        wait_until(lambda: self.now()["state"] in states, seconds, self.story)
        return self.now()

    def reach(self, step: int, seconds: float = 180) -> None:
        """Wait until that step has been trained."""
        wait_until(lambda: self.step >= step, seconds, self.story)

    def train(self, steps: int) -> None:
        """Wait for so many steps from now on."""
        self.reach(self.step + steps)

    def pause(self) -> dict[str, Any]:
        """Have the run stand still, if it does not. Returns it."""
        if self.now()["state"] != "paused":
            self.api.post(f"/runs/{self.id}/pause")
        return self.wait_for("paused")

    def resume(self) -> None:
        """Have the paused run train on."""
        self.api.post(f"/runs/{self.id}/resume")
        self.wait_for("running")

    def end(self) -> dict[str, Any]:
        """Cancel the run, if it has not ended. Returns it."""
        if self.now()["state"] not in ENDED:
            self.api.post(f"/runs/{self.id}/cancel")
        return self.wait_for(*ENDED)

    @contextmanager
    def held(self) -> Iterator[None]:
        """The run is in the state running, but its learner stands still: nothing trains behind what is looked at."""
        learner = self.installation.process("ray::LearnerWorker")
        learner.suspend()
        try:
            yield
        finally:
            learner.resume()
