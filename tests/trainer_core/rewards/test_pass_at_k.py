"""Pass@k of an evaluation against all subsets, and its interval against draws whose truth is known."""

from itertools import combinations

import numpy as np
import pytest
from pydantic import ValidationError

from tests.support.about import TRAINING
from tests.trainer_core.batches import group, rewarded, trajectory
from tests.trainer_core.specs import spec
from trainer_core.metrics import find, placeholders
from trainer_core.rewards.pass_at_k import estimate, pass_at_k, wilson
from worker.engine import Sampling
from worker.loop.evaluation import evaluation_metrics
from worker.messages.ticket import Batch, Ticket


@pytest.mark.parametrize("samples", [1, 4, 6])
def test_it_is_the_share_of_all_subsets_that_hold_a_right_one(samples: int) -> None:
    for right in range(samples + 1):
        verdicts = [True] * right + [False] * (samples - right)
        for k in range(1, samples + 1):
            subsets = [any(chosen) for chosen in combinations(verdicts, k)]
            assert estimate(samples, right, k) == pytest.approx(sum(subsets) / len(subsets), abs=1e-12)


def test_the_expectation_over_draws_is_the_probability() -> None:
    """1 − (1 − p)^k for every n: the naive estimate 1 − (1 − c/n)^k is too low."""
    p, n, k = 0.3, 8, 3
    draws = np.random.default_rng(0).binomial(n, p, 20_000)
    mean = np.mean([estimate(n, int(c), k) for c in draws])
    naive = np.mean(1 - (1 - draws / n) ** k)
    assert mean == pytest.approx(1 - (1 - p) ** k, abs=0.005)
    assert naive < mean - 0.02


@pytest.mark.parametrize(("samples", "right", "k"), [(3, 1, 4), (3, 4, 1), (3, -1, 1), (3, 1, 0)])
def test_what_cannot_be_estimated_is_refused(samples: int, right: int, k: int) -> None:
    with pytest.raises(ValueError, match="cannot be estimated"):
        estimate(samples, right, k)


def test_wilson_is_the_published_interval() -> None:
    # Wilson's interval of 8 successes in 10 trials: Brown, Cai and DasGupta (2001) and every table have 0.490 to 0.943.
    assert wilson(0.8, 10) == pytest.approx((0.4901625, 0.9433178), abs=1e-6)
    assert wilson(0.0, 10) == pytest.approx((0.0, 0.2775328), abs=1e-6)
    assert wilson(1.0, 10) == pytest.approx((0.7224672, 1.0), abs=1e-6)


def test_one_sample_per_prompt_has_wilsons_interval_of_the_prompts() -> None:
    groups = [rewarded(1.0, index=n) for n in range(8)] + [rewarded(0.0, index=n) for n in range(8, 10)]
    found = pass_at_k(groups, 1)
    assert found is not None and found.mean == 0.8
    # The sample variance divides by P − 1: the interval is that of nine trials.
    assert (found.low, found.high) == pytest.approx(wilson(0.8, 9), abs=1e-12)


@pytest.mark.expensive(4, "starts grading processes", about=TRAINING)
@pytest.mark.parametrize("k", [1, 4])
def test_the_interval_holds_the_truth_19_times_out_of_20(k: int) -> None:
    rng = np.random.default_rng(1)
    truth = np.mean(1 - (1 - rng.beta(0.5, 1.0, 200_000)) ** k)
    held = 0
    for _ in range(300):
        rates = rng.beta(0.5, 1.0, 40)
        groups = [rewarded(*map(float, rng.random(6) < rate), index=n) for n, rate in enumerate(rates)]
        found = pass_at_k(groups, k)
        assert found is not None and 0 <= found.low <= found.mean <= found.high <= 1
        held += found.low <= truth <= found.high
    assert 0.92 <= held / 300 <= 0.99


def test_prompts_with_too_few_scored_samples_do_not_count() -> None:
    groups = [rewarded(1.0, 0.0, None), rewarded(1.0, None, None, index=1)]
    found = pass_at_k(groups, 2)
    assert found is not None and found.mean == 1.0
    assert pass_at_k(groups, 3) is None
    assert pass_at_k([], 1) is None


def test_shaping_does_not_make_an_answer_wrong() -> None:
    shaped = trajectory(0.3, reward_parts={"length_shaping": -0.7})
    found = pass_at_k([group([shaped, trajectory(0.0)])], 2)
    assert found is not None and found.mean == 1.0


def test_an_evaluation_tells_what_its_spec_asks_for() -> None:
    groups = [rewarded(1.0, 0.0, 0.0, 0.0), rewarded(0.0, 0.0, 0.0, 0.0, index=1)]
    asked, sampling = spec(), Sampling(temperature=1.0, max_tokens=8)
    batch = Batch(3, [Ticket(one, np.zeros(1, np.int32), asked, 4, sampling) for one in groups])
    metrics = evaluation_metrics(batch, (1, 2))
    assert metrics["eval/sums/pass_at/1/mean"] == metrics["eval/sums/pass_rate"] == pytest.approx(0.125)
    assert [metrics[f"eval/sums/pass_rate/{end}"] for end in ("low", "high")] == [
        metrics[f"eval/sums/pass_at/1/{end}"] for end in ("low", "high")
    ]
    assert metrics["eval/sums/pass_at/2/mean"] == pytest.approx(0.25)
    assert metrics["eval/sums/pass_at/2/low"] < 0.25 < metrics["eval/sums/pass_at/2/high"]
    # The prompts' means are 1/4 and 0, whose deviation is 1/4 · √½.
    assert metrics["eval/sums/score/mean"] == pytest.approx(0.125)
    assert metrics["eval/sums/score/error"] == pytest.approx(0.125)
    assert all(find(name) for name in metrics)
    assert placeholders("eval/sums/pass_at/2/low") == {"source": "sums", "k": "2"}
    assert not any("pass_at" in name for name in evaluation_metrics(batch))


@pytest.mark.parametrize(
    ("evaluation", "message"),
    [
        ({"pass_at": [1, 8], "samples_per_prompt": 4}, "pass@8 cannot be estimated from 4 samples"),
        ({"pass_at": [2, 1], "samples_per_prompt": 4}, "pass_at must be increasing numbers"),
        ({"pass_at": [0, 1], "samples_per_prompt": 4}, "pass_at must be increasing numbers"),
    ],
)
def test_a_spec_that_asks_for_the_impossible_is_refused(evaluation: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        spec(evaluation=evaluation)
    assert spec(evaluation={"pass_at": [1, 4], "samples_per_prompt": 4}).evaluation.pass_at == (1, 4)


def test_a_guard_on_a_pass_at_k_that_nobody_asks_for_is_refused() -> None:
    evaluation = {"sources": [{"name": "held", "dataset": "held@1"}], "samples_per_prompt": 4, "pass_at": [2]}
    guard = {"metric": "eval/held/pass_at/4/mean", "type": "metric_bound", "min": 0.1}
    with pytest.raises(ValidationError, match="pass_at does not include it"):
        spec(evaluation=evaluation, guards=[guard])
