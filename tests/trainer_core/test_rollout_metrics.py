"""Metrics of a step: by hand, and the mismatch against float64."""

import math

import numpy as np
import pytest

from tests.trainer_core.batches import group, rewarded, trajectory
from tests.trainer_core.specs import spec
from trainer_core.episodes import Group
from trainer_core.metrics import find
from trainer_core.rewards.outcomes import pass_rate
from trainer_core.rollout_metrics import mismatch_metrics, step_metrics

TAGS = spec(thinking={"type": "tags", "budget": 3})


def metrics(batch: list[Group], chosen: object = None) -> dict[str, float]:
    return step_metrics(batch, chosen or spec(), version=0)  # type: ignore[arg-type]


def test_scores_and_groups_by_hand() -> None:
    found = metrics([rewarded(1.0, 0.0), rewarded(0.5, 0.5, revision=2), rewarded(2.0, None, source="products")])
    assert found["critic/score/mean"] == pytest.approx(4.0 / 5)
    assert found["critic/score/std"] == pytest.approx(np.std([1.0, 0.0, 0.5, 0.5, 2.0]))
    assert (found["critic/score/min"], found["critic/score/max"]) == (0.0, 2.0)
    assert found["reward/error_share"] == pytest.approx(1 / 6)
    assert found["groups/count"] == 3.0
    assert found["groups/zero_advantage_share"] == pytest.approx(2 / 3)
    assert found["control/revision"] == 2.0
    assert found["train/mix/sums"] == pytest.approx(2 / 3)
    assert found["train/mix/products"] == pytest.approx(1 / 3)
    assert found["train/pass_rate/sums"] == pytest.approx(3 / 4)
    assert found["train/pass_rate/products"] == 1.0


def test_a_failed_reward_that_is_scored_zero_does_not_pull_the_mean_down() -> None:
    found = metrics([group([trajectory(1.0), trajectory(0.0, reward_error="x: failed")])])
    assert found["critic/score/mean"] == 1.0
    assert found["train/pass_rate/sums"] == 1.0
    assert found["reward/error_share"] == 0.5


def test_without_any_reward_there_is_no_score() -> None:
    found = metrics([rewarded(None, None)])
    assert not {name for name in found if name.startswith(("critic", "train/pass_rate"))}
    assert found["reward/error_share"] == 1.0
    assert math.isnan(pass_rate([rewarded(None)]))


def test_lengths_by_hand() -> None:
    lengths = [1, 2, 3, 4, 10]
    batch = [
        group([trajectory(n / 10, length=n, prompt=7, finish_reason="length" if n == 10 else "stop") for n in lengths])
    ]
    found = metrics(batch)
    assert found["response_length/mean"] == 4.0
    assert (found["response_length/min"], found["response_length/max"]) == (1.0, 10.0)
    assert found["response_length/p50"] == 3.0
    assert found["response_length/p95"] == pytest.approx(np.percentile(lengths, 95))
    assert found["response_length/clip_ratio"] == pytest.approx(0.2)
    assert found["prompt_length/mean"] == 7.0


def test_thinking_by_hand() -> None:
    batch = [group([trajectory(thinking_tokens=n, budget_hit=n == 3) for n in (0, 1, 3, 4)])]
    found = metrics(batch, TAGS)
    assert found["thinking/mean"] == 2.0
    assert found["thinking/max"] == 4.0
    assert found["thinking/share_thinking"] == 0.75
    assert found["thinking/budget_hit_share"] == 0.25
    assert found["thinking/budget"] == 3.0
    assert "thinking/budget" not in metrics(batch, spec(thinking={"type": "tags"}))
    assert not {name for name in metrics(batch) if name.startswith("thinking")}


def test_parts_average_over_those_that_have_them() -> None:
    batch = [group([trajectory(reward_parts={"form": 1.0, "overlong": -0.5}), trajectory(reward_parts={"form": 0.0})])]
    found = metrics(batch)
    assert found["reward_parts/form/mean"] == 0.5
    assert found["reward_parts/overlong/mean"] == -0.5


def test_overlong_shaping_does_not_turn_a_right_answer_into_a_failure() -> None:
    batch = [group([trajectory(0.25, reward_parts={"correct": 1.0, "overlong": -0.75})])]
    assert pass_rate(batch) == 1.0


@pytest.mark.parametrize(
    ("reward", "threshold", "parts"),
    [
        (0.7 + 0.1, 0.8, {}),  # 0.7999999999999999
        ((0.1 - 2 / 3) + 0.0, 0.1, {"overlong": -2 / 3}),
        ((0.1 - 0.5) + 0.0, 0.1, {"overlong": -0.5}),
    ],
)
def test_rounding_does_not_turn_a_right_answer_into_a_failure(
    reward: float, threshold: float, parts: dict[str, float]
) -> None:
    assert reward - parts.get("overlong", 0.0) < threshold
    assert pass_rate([group([trajectory(reward, reward_parts=parts)], threshold=threshold)]) == 1.0
    assert pass_rate([group([trajectory(reward - 1e-6, reward_parts=parts)], threshold=threshold)]) == 0.0


def test_success_starts_at_the_threshold() -> None:
    assert pass_rate([rewarded(0.5, 0.4999, 1.0, None)]) == pytest.approx(2 / 3)


def test_mismatch_agrees_with_float64() -> None:
    generator = np.random.default_rng(0)
    trajectories = []
    for length in (5, 1, 9):
        behaviour = generator.normal(-1, 0.5, length).astype(np.float32)
        learner = (behaviour + generator.normal(0, 0.3, length)).astype(np.float32)
        sampled = generator.random(length) < 0.7
        sampled[0] = True
        # Forced tokens carry nonsense: they must not be read.
        learner[~sampled], behaviour[~sampled] = np.nan, 0.0
        versions = generator.integers(3, 6, length).astype(np.int32)
        trajectories.append(
            trajectory(
                length=length,
                behaviour_logprobs=behaviour,
                learner_logprobs=learner,
                sampled=sampled,
                versions=versions,
            )
        )
    parts = [(t.learner_logprobs.astype(float) - t.behaviour_logprobs.astype(float))[t.sampled] for t in trajectories]
    difference = np.concatenate(parts)
    weights = np.exp(difference)
    ages = np.concatenate([5 - t.versions[t.sampled] for t in trajectories])
    expected = {
        "rollout_corr/kl": -difference.mean(),
        "rollout_corr/k3_kl": (weights - 1 - difference).mean(),
        "rollout_corr/log_ppl_abs_diff": np.mean([abs(part.mean()) for part in parts]),
        "rollout_corr/max_abs_logp_diff": abs(difference).max(),
        "rollout_corr/rollout_is_mean": weights.mean(),
        "rollout_corr/rollout_is_max": weights.max(),
        "rollout_corr/rollout_is_eff_sample_size": 1 / np.mean((weights / weights.mean()) ** 2),
        "staleness/mean": ages.mean(),
        "staleness/max": ages.max(),
    }
    found = mismatch_metrics(trajectories, 5)
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-9)


def scored(*pairs: tuple[float, float]) -> dict[str, float]:
    behaviour, learner = (np.array(column, np.float32) for column in zip(*pairs, strict=True))
    return mismatch_metrics([trajectory(length=len(pairs), behaviour_logprobs=behaviour, learner_logprobs=learner)], 0)


def test_signs_by_hand() -> None:
    # The engine found the token likelier than the learner does: KL(behaviour ‖ learner) is estimated as positive.
    found = scored((-1.0, -1.5))
    assert found["rollout_corr/kl"] == 0.5
    assert found["rollout_corr/k3_kl"] == pytest.approx(math.exp(-0.5) - 1 + 0.5)
    assert found["rollout_corr/rollout_is_mean"] == pytest.approx(math.exp(-0.5))


def test_a_token_that_the_learner_finds_all_but_impossible_counts_in_full() -> None:
    found = scored((0.0, -50.0), (-1.0, -1.0))
    assert found["rollout_corr/k3_kl"] == pytest.approx((math.exp(-50.0) - 1 + 50.0) / 2, rel=1e-12)
    assert found["rollout_corr/kl"] == 25.0


def test_equal_policies_do_not_differ() -> None:
    found = scored((-1.0, -1.0), (-2.0, -2.0))
    assert found["rollout_corr/kl"] == found["rollout_corr/k3_kl"] == found["rollout_corr/max_abs_logp_diff"] == 0.0
    assert found["rollout_corr/rollout_is_eff_sample_size"] == 1.0


def test_the_sample_size_is_that_of_raw_weights() -> None:
    # One weight of e⁶ among 99 of 1: truncated at 2 the sample size would look like 99 %.
    found = scored((-7.0, -1.0), *[(-1.0, -1.0)] * 99)
    weights = np.array([math.exp(6.0)] + [1.0] * 99)
    assert found["rollout_corr/rollout_is_eff_sample_size"] == pytest.approx(
        weights.sum() ** 2 / (weights**2).sum() / 100
    )
    assert found["rollout_corr/rollout_is_eff_sample_size"] < 0.02
    assert found["rollout_corr/rollout_is_max"] == pytest.approx(math.exp(6.0), rel=1e-6)


def test_nothing_scored_is_nothing_reported() -> None:
    assert mismatch_metrics([trajectory(1.0)], 0) == {}
    forced = trajectory(sampled=np.zeros(4, np.bool_), learner_logprobs=np.zeros(4, np.float32))
    assert mismatch_metrics([forced], 0) == {}
    found = {name for name in metrics([rewarded(1.0)]) if name.startswith(("rollout_corr", "staleness"))}
    assert found == {"rollout_corr/rollout_ppl"}, "the perplexity of the rollouts is the engine's word alone"


def test_every_reported_name_is_in_the_registry() -> None:
    one = trajectory(1.0, reward_parts={"form": 1.0}, learner_logprobs=np.zeros(4, np.float32))
    names = metrics([group([one])], TAGS)
    assert len(names) > 25
    assert all(find(name) is not None for name in names)
