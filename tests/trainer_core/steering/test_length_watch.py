"""The length-bias watch over a run: when it speaks, what it takes off, and what a resume keeps."""

import json
from typing import Any

import numpy as np
import pytest

from tests.trainer_core.batches import group, trajectory
from trainer_core.episodes import Group
from trainer_core.rewards.definition import RewardDefinition
from trainer_core.rewards.length_bias import partial_correlation
from trainer_core.rewards.outcomes import pass_rate
from trainer_core.spec.rewards.watch import LengthBias
from trainer_core.steering.length_watch import LengthWatch

REF = "calculation@1"
DEFINITION = RewardDefinition.model_validate(
    {
        "components": [
            {"name": "right", "weight": 1.0, "grader": {"type": "numeric"}},
            {"name": "style", "weight": 2.0, "grader": {"type": "rubric", "items_field": "rubric"}},
        ]
    }
)


def watch(**settings: Any) -> LengthWatch:
    made = LengthWatch(LengthBias.model_validate({"component": "style", "window": 64, **settings}))
    made.pin(REF, DEFINITION)
    return made


def batch(seed: int, slope: float, count: int = 64, **values: Any) -> list[Group]:
    """A group whose judge pays ``slope`` per token."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        right, length = float(rng.integers(0, 2)), int(rng.integers(10, 200))
        style = 0.2 + slope * length + float(rng.normal(0.0, 0.05))
        parts = {"right": right, "style": style}
        rows.append(trajectory(right + 2.0 * style, length=length, reward_parts=parts))
    return [group(rows, **values)]


def shown_bias(groups: list[Group]) -> float:
    rows = [t for one in groups for t in one.trajectories]
    found = partial_correlation(
        [t.verdict.parts["style"] for t in rows], [t.length for t in rows], [t.verdict.parts["right"] for t in rows]
    )
    assert found is not None
    return found


def test_it_speaks_once_the_window_is_full() -> None:
    made = watch()
    made.correct(batch(0, 0.004, 40))
    assert made.close(1) == ({}, None)
    made.correct(batch(1, 0.004, 40))
    metrics, alert = made.close(2)
    assert metrics["reward/length_bias"] > 0.9
    assert alert is not None and alert.action == "alert"
    assert alert.message.startswith("style grades longer completions higher than the rules do")
    made.correct(batch(2, 0.004, 40))
    assert made.close(3)[1] is None, "told once"


@pytest.mark.parametrize("reaction", ["normalise", "recalibrate"])
def test_the_reaction_takes_the_bias_off_what_comes_next(reaction: str) -> None:
    made = watch(reaction=reaction, window=1000)
    made.correct(batch(1, 0.004, 1000))
    made.close(1)
    fresh, before = batch(2, 0.004, 1000), batch(2, 0.004, 1000)
    made.correct(fresh)
    assert abs(shown_bias(before)) > 0.9
    assert abs(shown_bias(fresh)) < (0.15 if reaction == "normalise" else 0.4)
    for now, then in zip(fresh[0].trajectories, before[0].trajectories, strict=True):
        assert now.reward is not None and then.reward is not None
        assert now.reward == pytest.approx(now.verdict.parts["right"] + 2.0 * now.verdict.parts["style"])
        assert now.verdict.length_correction == pytest.approx(now.reward - then.reward)
    assert pass_rate(fresh) == pass_rate(before), "right answers stay right, wrong ones wrong"
    metrics, _ = made.close(2)
    assert metrics["reward/length_bias"] > 0.9, "the watch sees the judge, not its own correction"


@pytest.mark.parametrize("reaction", ["alert", "pause"])
def test_other_reactions_change_no_reward(reaction: str) -> None:
    made = watch(reaction=reaction)
    made.correct(batch(1, 0.004))
    _, alert = made.close(1)
    assert alert is not None and alert.action == reaction
    fresh, before = batch(2, 0.004), batch(2, 0.004)
    made.correct(fresh)
    assert [t.reward for t in fresh[0].trajectories] == [t.reward for t in before[0].trajectories]


def test_rows_that_the_judge_is_not_for_take_no_part() -> None:
    made, judged = watch(), batch(0, 0.004)
    for one in judged[0].trajectories[:32]:
        one.verdict.parts.pop("style")
    for one in judged[0].trajectories[32:48]:
        one.verdict.parts.pop("right")
    made.correct(judged)
    assert made.close(1) == ({}, None), "32 of the 64 were judged"
    made.correct(batch(1, 0.004, 32))
    assert made.close(2)[0]["reward/length_bias"] > 0.5


def test_it_rests_below_half_of_the_threshold() -> None:
    made = watch(reaction="normalise", threshold=0.5)
    made.correct(batch(1, 0.004))
    assert made.close(1)[1] is not None and made.active
    made.correct(batch(2, 0.0))
    value = made.close(2)[0]["reward/length_bias"]
    assert abs(value) < 0.25 and not made.active
    fresh = batch(3, 0.0)
    made.correct(fresh)
    assert all(t.verdict.length_correction == 0.0 for t in fresh[0].trajectories)
    made.correct(batch(4, -0.004))
    _, alert = made.close(4)
    assert alert is not None and "shorter" in alert.message, "a judge that pays for brevity is told of as well"


def test_only_what_the_pinned_version_graded_counts() -> None:
    made = watch()
    made.correct(batch(1, 0.004, ref="calculation@2"))
    failed = trajectory(None, reward_parts={"right": 1.0})
    forgiven = trajectory(1.0, reward_parts={"right": 1.0, "style": 0.0}, reward_forgiven=["style: no answer"])
    zeroed = trajectory(0.0, reward_error="style: no answer")
    made.correct([group([failed, forgiven, zeroed] * 40)])
    assert made.close(1) == ({}, None)
    made.correct(batch(2, 0.004))
    assert made.close(2)[1] is not None
    made.pin("calculation@2", DEFINITION)
    assert made.close(3) == ({}, None) and not made.active, "another version starts anew"


def test_a_resume_goes_on_the_same() -> None:
    made = watch(reaction="normalise")
    made.correct(batch(1, 0.004))
    made.close(1)
    resumed = watch(reaction="normalise")
    resumed.load(json.loads(json.dumps(made.state())))
    one, other = batch(2, 0.004), batch(2, 0.004)
    made.correct(one)
    resumed.correct(other)
    assert [t.reward for t in one[0].trajectories] == [t.reward for t in other[0].trajectories]
    assert made.close(2) == resumed.close(2)
    elsewhere = watch(reaction="normalise")
    elsewhere.pin("calculation@2", DEFINITION)
    elsewhere.load(made.state())
    assert not elsewhere.active
