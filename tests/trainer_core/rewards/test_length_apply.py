"""Length shaping on whole batches: what changes, what stays, and what the curriculum sees of it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.trainer_core.specs import spec
from trainer_core.episodes import FinishReason, Group, Trajectory, Verdict
from trainer_core.methods.advantages.assign import assign
from trainer_core.prompting.plan import length_target
from trainer_core.rewards.length import advantage_weights, reweigh, shape
from trainer_core.rewards.outcomes import pass_rate
from trainer_core.spec import RunSpec, apply_control
from trainer_core.steering.length_schedule import LengthSchedule


def trajectory(length: int, reward: float | None, finish: FinishReason = "stop", **parts: float) -> Trajectory:
    return Trajectory(
        trajectory_id="t",
        prompt_ids=np.zeros(3, np.int32),
        token_ids=np.zeros(length, np.int32),
        behaviour_logprobs=np.zeros(length, np.float32),
        versions=np.zeros(length, np.int32),
        sampled=np.ones(length, np.bool_),
        finish_reason=finish,
        temperature=1.0,
        verdict=Verdict(reward=reward, parts=dict(parts), error=None if reward is not None else "grader: broken"),
    )


def group(*trajectories: Trajectory, group_id: str = "1-0", **item: Any) -> Group:
    return Group(group_id, "sums:0", "sums", "sums@1", {"prompt": "1+1=", **item}, "", 0, list(trajectories))


def shaped(**length: Any) -> RunSpec:
    return spec(reward={"definition": "r@1", "length": length}, rollout={"max_tokens": 100, "group_size": 4})


def test_the_part_is_added_and_shown() -> None:
    one = group(trajectory(100, 1.0, "length", right=1.0), trajectory(10, 0.0))
    shape([one], [shaped(type="magistral", buffer=20)])
    assert [t.reward for t in one.trajectories] == [0.9, 0.0]
    assert one.trajectories[0].verdict.parts == {"right": 1.0, "length_shaping": -0.1}
    assert one.trajectories[1].verdict.parts == {"length_shaping": 0.0}


def test_without_shaping_nothing_changes() -> None:
    one = group(trajectory(100, 1.0))
    shape([one], [spec()])
    reweigh([one], [spec()])
    assert one.trajectories[0].reward == 1.0 and one.trajectories[0].verdict.parts == {}


def test_a_group_is_shaped_once() -> None:
    one, chosen = group(trajectory(100, 1.0, "length")), shaped(type="magistral", buffer=20)
    shape([one], [chosen])
    shape([one], [chosen])
    assert one.trajectories[0].reward == 0.9


def test_failed_rewards_stay_out_of_it() -> None:
    failed, right = trajectory(100, None), trajectory(90, 1.0)
    shape([group(failed, right)], [shaped(type="difficulty_aware", buffer=20, gamma=5.0)])
    assert failed.reward is None and failed.verdict.parts == {}
    assert right.reward == 0.5, "the pass rate is that of the answers that could be graded: 1"


def test_a_zero_given_for_an_error_is_not_shaped() -> None:
    one = trajectory(100, None)
    one.verdict = replace(one.verdict, reward=0.0)
    shape([group(one)], [shaped(type="magistral", buffer=20)])
    assert one.reward == 0.0 and one.verdict.parts == {}


@pytest.mark.parametrize(
    "length",
    [
        {"type": "magistral", "buffer": 90, "factor": 5.0},
        {"type": "l1_exact", "alpha": 1.0, "target": {"type": "sampled", "min": 1, "max": 1, "tell": " {tokens}"}},
        {"type": "l1_max", "alpha": 1.0, "target": {"type": "sampled", "min": 1, "max": 1, "tell": " {tokens}"}},
        {"type": "grpo_lambda", "share": 1.0, "alpha": 3.0},
        {"type": "difficulty_aware", "buffer": 90, "factor": 5.0},
    ],
)
def test_a_right_answer_stays_right_however_long(length: dict[str, Any]) -> None:
    one = group(trajectory(95, 1.0), trajectory(99, 0.7), trajectory(20, 0.0), trajectory(30, 0.2))
    one.success_threshold = 0.7
    assert pass_rate([one]) == 0.5
    shape([one], [shaped(**length)])
    assert any(t.verdict.parts["length_shaping"] < -0.5 for t in one.trajectories)
    assert pass_rate([one]) == 0.5


def test_grpo_lambda_compares_the_groups_of_the_batch() -> None:
    good = group(trajectory(10, 1.0), trajectory(30, 1.0), group_id="1-0")
    poor = group(trajectory(10, 1.0), trajectory(30, 0.0), group_id="1-1")
    shape([poor, good], [shaped(type="grpo_lambda", share=0.5, alpha=1.0)] * 2)
    assert [t.verdict.parts["length_shaping"] for t in poor.trajectories] == [0.0, 0.0]
    assert [t.reward for t in good.trajectories] == pytest.approx([0.7310585786300049, 0.2689414213699951])


def test_l1_uses_the_target_that_the_prompt_named() -> None:
    target = {"type": "sampled", "min": 20, "max": 80, "tell": " Think for {tokens} tokens."}
    chosen = shaped(type="l1_exact", alpha=0.01, target=target)
    groups = [group(trajectory(50, 1.0), group_id=f"1-{index}") for index in range(30)]
    shape(groups, [chosen] * 30)
    targets = [length_target(chosen, one.item, one.group_id) for one in groups]
    assert len(set(targets)) > 10
    for one, wanted in zip(groups, targets, strict=True):
        assert wanted is not None and 20 <= wanted <= 80
        assert one.trajectories[0].reward == pytest.approx(1.0 - 0.01 * abs(wanted - 50))


def test_decoupled_weights_never_turn_a_right_answer_down_and_leave_wrong_ones_alone() -> None:
    chosen = shaped(type="decoupled", temperature=0.2)
    one = group(trajectory(10, 1.0), trajectory(90, 1.0), trajectory(40, 0.0), trajectory(5, None))
    shape([one], [chosen])
    assert [t.reward for t in one.trajectories] == [1.0, 1.0, 0.0, None]
    assign(chosen.advantage, [one])
    before = [t.advantage for t in one.trajectories]
    reweigh([one], [chosen])
    after = [t.advantage for t in one.trajectories]
    assert after[2:] == before[2:]
    assert after[0] > before[0] > 0.0 and before[1] > after[1] > 0.0
    assert after[0] + after[1] == pytest.approx(before[0] + before[1])
    # l = 0.9 and 0.1 at λ = 0.2: a ratio of e⁴.
    assert after[0] / after[1] == pytest.approx(np.exp(4.0))


def test_each_group_is_shaped_under_the_spec_it_was_dispatched_under() -> None:
    wide = shaped(type="magistral", buffer=20)
    narrow = LengthSchedule(
        spec(
            reward={"definition": "r@1", "length": {"type": "magistral", "buffer": 20}},
            length_window={"type": "cyclic", "shape": "step", "min": 50, "max": 100, "period": 2},
        )
    ).applied(wide, 1)
    groups = [group(trajectory(50, 1.0), group_id=f"1-{index}") for index in range(2)]
    shape(groups, [wide, narrow])
    assert [one.trajectories[0].reward for one in groups] == [1.0, 0.9]


def test_the_share_of_groups_is_the_newest() -> None:
    groups = [group(trajectory(10, 1.0), group_id=f"1-{index}") for index in range(4)]
    groups[2].steering_revision = 1
    old = shaped(type="grpo_lambda", share=0.25, alpha=1.0)
    new = apply_control(old, "reward.length.share", 1.0)
    shape(groups, [old, old, new, old])
    assert [one.trajectories[0].reward for one in groups] == [0.5] * 4
    shape([], [])


def test_later_advantages_are_weighed_as_at_the_dispatch() -> None:
    """λ and the window are those of the group's dispatch, whatever the run is steered to by then."""
    earlier = shaped(type="decoupled", temperature=0.2)
    one = group(trajectory(10, 1.0), trajectory(90, 1.0), trajectory(40, 0.0))
    reweigh([one], [earlier])
    assert [t.credit.length_logit for t in one.trajectories] == pytest.approx([4.5, 0.5, 3.0])
    for trajectory_, advantage in zip(one.trajectories, (2.0, 0.5, -1.0), strict=True):
        trajectory_.earn(advantage)
    [(short, larger), (long, smaller)] = advantage_weights(one)
    assert [short, long] == one.trajectories[:2]
    assert larger + smaller == pytest.approx(2.0) and larger / smaller == pytest.approx(np.exp(4.0))
    reweigh([one], [spec()])
    assert advantage_weights(one) == [], "a group that is used again goes by its own dispatch"
