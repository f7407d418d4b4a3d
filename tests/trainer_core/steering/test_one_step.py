"""The calls of a loop in their order, with everything switched on: what steering promises whoever drives it."""

import json
from random import Random
from typing import Any

import numpy as np

from tests.trainer_core.specs import document
from trainer_core.episodes import Group, Trajectory, Verdict
from trainer_core.methods.advantages.assign import assign
from trainer_core.prompting.plan import plan_group, with_text
from trainer_core.rewards.length import reweigh, shape
from trainer_core.rewards.outcomes import pass_rate
from trainer_core.rollout_metrics import step_metrics
from trainer_core.spec import RunSpec
from trainer_core.steering.curriculum import Curriculum
from trainer_core.steering.experience_replay import ReplayBuffer
from trainer_core.steering.length_schedule import LengthSchedule

STRATEGIES = ["Carry digits.", "Estimate first."]
SPEC = RunSpec.model_validate(
    {
        **document(
            reward={"definition": "r@1", "length": {"type": "decoupled"}},
            rollout={"group_size": 4, "max_tokens": 60},
            thinking={
                "type": "tags",
                "prompt_budget": {"type": "sampled", "min": 5, "max": 20, "tell": " Think {tokens} tokens."},
                "interruptions": ["Time is up.</think>", "</think>"],
            },
            length_window={"type": "staged", "stages": [30, 60], "settle_steps": 1, "perplexity_tolerance": 10.0},
            curriculum={"type": "difficulty_target"},
            prompting={"hints": {}, "nudges": {"source": {"type": "listed", "strategies": STRATEGIES}}},
            batching={"allocation": {"type": "dars"}, "replay": {"per_step": 1}},
            schedule={"steps": 6, "prompts_per_step": 6},
        )
    }
)
ROWS = {
    name: [{"prompt": f"{row}+1=", "solution": "one two three four five six"} for row in range(8)]
    for name in ("sums", "products")
}


class Loop:
    """A loop without engine and learner: completions and rewards come from a seeded draw."""

    def __init__(self, state: dict[str, Any] | None = None) -> None:
        self.curriculum = Curriculum(SPEC, ROWS, SPEC.schedule.seed)
        self.window, self.replay = LengthSchedule(SPEC), ReplayBuffer(SPEC)
        if state is not None:
            self.curriculum.load(state["curriculum"])
            self.window.load(state["window"])
            self.replay.load(state["replay"])

    def state(self) -> dict[str, Any]:
        return {
            "curriculum": self.curriculum.state(),
            "window": self.window.state(),
            "replay": self.replay.state(),
        }

    def step(self, step: int) -> list[Any]:
        spec = self.window.applied(SPEC, step)
        groups, asked = [], []
        for index, draw in enumerate(self.curriculum.draw(SPEC.schedule.prompts_per_step, step)):
            name = f"{step}-{index}"
            plans = plan_group(spec, draw.item, name, draw.samples, draw.hint)
            asked.append([(with_text(draw.item, p.text)["prompt"], p.thinking_budget, p.forced_end) for p in plans])
            samples = [self._complete(spec, f"{name}/{place}", step) for place in range(draw.samples)]
            groups.append(Group(name, draw.prompt_id, draw.source, "d@1", draw.item, "", 0, trajectories=samples))
        for group in groups:
            self.curriculum.observe(group.prompt_id, pass_rate([group]), len(group.trajectories))
        shape(groups, [spec] * len(groups))
        assign(spec.advantage, groups)
        reweigh(groups, [spec] * len(groups))
        old = self.replay.take(step, version=step - 1)
        learned = [(g.group_id, [t.advantage for t in g.trajectories]) for g in groups + old]
        self.replay.offer(groups)
        metrics = step_metrics(groups, spec, version=step - 1)
        self.window.observe(step, metrics)
        return [spec.rollout.max_tokens, asked, learned, metrics]

    def _complete(self, spec: RunSpec, name: str, step: int) -> Trajectory:
        luck = Random(name)
        length = min(luck.randint(10, 90), spec.rollout.max_tokens)
        return Trajectory(
            trajectory_id=name,
            prompt_ids=np.zeros(3, np.int32),
            token_ids=np.zeros(length, np.int32),
            behaviour_logprobs=np.full(length, -0.5, np.float32),
            versions=np.full(length, step - 1, np.int32),
            sampled=np.ones(length, np.bool_),
            finish_reason="length" if length == spec.rollout.max_tokens else "stop",
            temperature=1.0,
            verdict=Verdict(reward=float(luck.random() < 0.4)),
        )


def test_steps_use_all_that_is_switched_on() -> None:
    loop = Loop()
    steps = [loop.step(step) for step in range(1, 7)]
    windows = [window for window, *_ in steps]
    assert windows[0] == 30 and windows[-1] == 60, "the window widens once completions fill it"
    prompts = [ask for _, asked, *_ in steps for plans in asked for ask in plans]
    assert any("Strategy:" in prompt for prompt, *_ in prompts) and any("Hint: one" in prompt for prompt, *_ in prompts)
    for prompt, budget, end in prompts:
        assert budget is not None and 5 <= budget <= 20 and prompt.endswith(f" Think {budget} tokens.")
        assert end in ("Time is up.</think>", "</think>")
    assert {len(plans) for _, asked, *_ in steps for plans in asked} > {4}, "hard prompts get more samples"
    assert any(name.split("-")[0] != str(step) for step, (*_, learned, _) in enumerate(steps, 1) for name, _ in learned)
    assert steps[-1][-1]["response_length/window"] == 60.0


def test_a_resume_after_any_step_goes_on_the_same() -> None:
    whole, states = Loop(), []
    steps = []
    for step in range(1, 7):
        states.append(json.loads(json.dumps(whole.state())))
        steps.append(whole.step(step))
    for cut, state in enumerate(states):
        resumed = Loop(state)
        assert [resumed.step(step) for step in range(cut + 1, 7)] == steps[cut:]
