"""What is said of a batch whose update is not finite, alone and at the end of a run."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from tests.worker.loop.platform_double import PlatformDouble
from trainer_core.episodes import Credit, Group, Trajectory, Verdict
from worker.loop.reporting.extremes import extremes


def sample(reward: float | None, advantage: float = 0.0, tokens: list[float] | None = None) -> Trajectory:
    one = np.zeros(2, np.int32)
    return Trajectory(
        trajectory_id="t",
        prompt_ids=one,
        token_ids=one,
        behaviour_logprobs=one.astype(np.float32),
        versions=one,
        sampled=np.ones(2, np.bool_),
        finish_reason="stop",
        temperature=1.0,
        token_advantages=None if tokens is None else np.array(tokens, np.float32),
        verdict=replace(Verdict(), reward=reward),
        credit=Credit(advantage=advantage),
    )


def group(name: str, *samples: Trajectory) -> Group:
    return Group(name, f"add:{name}", "add", "add@1", {}, "", 0, list(samples))


def test_the_largest_by_size_is_named() -> None:
    groups = [group("1-0", sample(1.0, 0.5), sample(-3e38, -1e30)), group("1-1", sample(2.0, 1e10), sample(None, 2.0))]
    assert extremes(groups) == (
        "The largest reward is -3e+38 (prompt add:1-0, sample 1 of group 1-0). The largest advantage is -1e+30 (prompt"
        " add:1-0, sample 1 of group 1-0). The rollouts of the step are stored."
    )


def test_what_is_not_a_number_is_larger_than_any_number() -> None:
    groups = [group("1-0", sample(3e38), sample(math.nan)), group("1-1", sample(0.0, 1.0, [0.0, -math.inf]))]
    assert "reward is nan (prompt add:1-0, sample 1" in extremes(groups)
    assert "advantage is -inf (prompt add:1-1, sample 0" in extremes(groups)


def test_what_takes_no_part_in_the_loss_has_no_advantage() -> None:
    left_out = sample(None, 1e30)
    left_out.exclude("reward_error")
    assert extremes([group("1-0", left_out)]) == "The rollouts of the step are stored."


def test_a_run_with_an_overflowing_reward_ends_with_its_cause_and_its_rollouts(
    warm_launcher: Any, platform: PlatformDouble, spec: Callable[..., Any]
) -> None:
    source = "def grade(sample, item):\n    return 3e38 if len(sample['output_text']) % 2 else -3e38"
    grader = {"type": "python", "source": source, "timeout_s": 60.0}
    huge = {"components": [{"name": "huge", "weight": 1.0, "grader": grader}]}
    document = spec(
        schedule__steps=4,
        schedule__prompts_per_step=4,
        advantage={"type": "dr_grpo"},
        evaluation__sources=[],
        reward__timeout_seconds=120.0,
    )
    warm_launcher.prepare(document, reward={"ref": "calculation@1", "definition": huge})
    warm_launcher.start()
    platform.wait(lambda: platform.states()[-1:] == ["failed"])
    warm_launcher.until_gone()
    reason = platform.of("state")[-1]["data"]["reason"]
    assert "the loss or its gradient is not finite" in reason and "(prompt add:" in reason
    assert "The largest reward is 3e+38" in reason or "The largest reward is -3e+38" in reason
    assert platform.steps() == []
    (shown,) = platform.of("rollouts")
    assert shown["step"] == 1 and max(row["reward"] for row in shown["data"]["rows"]) > 1e38
    assert any(step == 1 for step, _ in platform.traces)
