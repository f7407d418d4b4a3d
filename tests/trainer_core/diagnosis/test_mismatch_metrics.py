"""Every mismatch metric against numbers worked out by hand, in float64."""

import math
import time

import numpy as np
import pytest

from tests.trainer_core.batches import trajectory
from trainer_core.diagnosis import mismatch_metrics
from trainer_core.episodes import Trajectory
from trainer_core.metrics import find

LN2 = math.log(2.0)


def scored(differences: list[float], versions: list[int] | None = None, base: float = -1.0) -> Trajectory:
    """A trajectory whose log π_learner − log π_behaviour are ``differences``."""
    behaviour = np.full(len(differences), base, np.float64)
    return trajectory(
        length=len(differences),
        behaviour_logprobs=behaviour,
        learner_logprobs=behaviour + np.array(differences),
        versions=np.array(versions or [3] * len(differences), np.int32),
    )


# Weights 2.5, 0.4 and 1 in one completion; 4 in another: log-ratios A, −A, 0 and B.
A, B = math.log(2.5), math.log(4.0)
BATCH = [scored([A, -A, 0.0], [3, 2, 3]), scored([B], [1])]

BY_HAND = {
    "kl": -B / 4,
    "k3_kl": ((2.5 - 1 - A) + (0.4 - 1 + A) + 0 + (4 - 1 - B)) / 4,
    "max_abs_logp_diff": B,
    # Perplexities: the engine's are e; the first completion's mean log-ratio is 0, the second's is B.
    "training_ppl": (math.e + math.e / 4) / 2,
    "ppl_ratio": (1 + 0.25) / 2,
    "log_ppl_diff": -B / 2,
    "log_ppl_abs_diff": B / 2,
    "log_ppl_diff_max": 0.0,
    "log_ppl_diff_min": -B,
    "rollout_is_mean": 7.9 / 4,
    "rollout_is_std": math.sqrt((6.25 + 0.16 + 1 + 16) / 4 - (7.9 / 4) ** 2),
    "rollout_is_max": 4.0,
    "rollout_is_min": 0.4,
    "rollout_is_ratio_fraction_high": 0.5,
    "rollout_is_ratio_fraction_low": 0.25,
    "rollout_is_eff_sample_size": 7.9**2 / (4 * 23.41),
    # Products over the completions: 1 and 4.
    "rollout_is_seq_mean": 2.5,
    "rollout_is_seq_std": 1.5,
    "rollout_is_seq_max": 4.0,
    "rollout_is_seq_min": 1.0,
    "rollout_is_seq_ratio_fraction_high": 0.5,
    "rollout_is_seq_ratio_fraction_low": 0.0,
    "rollout_is_seq_eff_sample_size": 25 / (2 * 17),
    "chi2_token": 23.41 / 4 - 1,
    "chi2_seq": 17 / 2 - 1,
    # Version 3 is the learner's: log-ratios A and 0; of older tokens: −A and B.
    "numerics_kl": -A / 2,
    "numerics_k3_kl": (2.5 - 1 - A) / 2,
    "staleness_kl": (A - B) / 2,
    "staleness_k3_kl": ((0.4 - 1 + A) + (4 - 1 - B)) / 2,
    "stale_token_share": 0.5,
}


def test_the_whole_set_by_hand() -> None:
    found = mismatch_metrics(BATCH, 3)
    expected = {f"rollout_corr/{name}": value for name, value in BY_HAND.items()}
    expected |= {"staleness/mean": (0 + 1 + 0 + 2) / 4, "staleness/max": 2.0}
    assert found.keys() == expected.keys()
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-14)


def test_every_name_is_in_the_registry() -> None:
    assert all(find(name) is not None for name in mismatch_metrics(BATCH, 3))


def test_the_two_kinds_of_tokens_add_up_to_all() -> None:
    found = mismatch_metrics(BATCH, 3)
    share = found["rollout_corr/stale_token_share"]
    for name in ("kl", "k3_kl"):
        parts = found[f"rollout_corr/numerics_{name}"], found[f"rollout_corr/staleness_{name}"]
        assert (1 - share) * parts[0] + share * parts[1] == pytest.approx(found[f"rollout_corr/{name}"])


def test_without_older_tokens_nothing_is_said_of_them() -> None:
    found = mismatch_metrics([scored([0.1, 0.2])], 3)
    assert found["rollout_corr/numerics_kl"] == pytest.approx(-0.15)
    assert found["rollout_corr/stale_token_share"] == 0.0
    assert not {name for name in found if "staleness_" in name}


def test_one_completion_that_dominates_shows_in_the_sample_size_of_completions() -> None:
    # Weights of 1.5 over 40 tokens: a token's weight looks harmless, the completion's is 1.5⁴⁰ ≈ 1.1e7.
    batch = [scored([math.log(1.5)] * 40), *[scored([0.0] * 40) for _ in range(9)]]
    found = mismatch_metrics(batch, 3)
    assert found["rollout_corr/rollout_is_eff_sample_size"] > 0.9
    assert found["rollout_corr/rollout_is_seq_eff_sample_size"] == pytest.approx(0.1, rel=1e-4)


def test_sample_sizes_do_not_depend_on_the_scale_of_the_weights() -> None:
    # Beyond e⁷⁰⁰ a float overflows; the share is a ratio and does not.
    found = mismatch_metrics([scored([400.0, 400.0]), scored([400.0, 400.0])], 3)
    assert found["rollout_corr/rollout_is_eff_sample_size"] == pytest.approx(1.0)
    assert found["rollout_corr/rollout_is_seq_eff_sample_size"] == pytest.approx(1.0)
    assert all(math.isfinite(value) for value in found.values())


def test_forced_and_unscored_tokens_take_no_part() -> None:
    forced = scored([LN2, 7.0, -LN2])
    forced.sampled[1] = False
    forced.learner_logprobs[1] = np.nan  # type: ignore[index]
    empty = trajectory(length=0, learner_logprobs=np.zeros(0, np.float32))
    assert mismatch_metrics([forced, empty, trajectory()], 3) == mismatch_metrics([scored([LN2, -LN2])], 3)
    assert mismatch_metrics([empty, trajectory()], 3) == {}


@pytest.mark.timed
def test_a_step_costs_less_than_five_milliseconds() -> None:
    rng = np.random.default_rng(0)
    batch = [scored(rng.normal(0, 0.1, 40).tolist(), rng.integers(1, 4, 40).tolist()) for _ in range(256)]
    seconds = []
    for _ in range(7):
        started = time.thread_time()
        mismatch_metrics(batch, 3)
        seconds.append(time.thread_time() - started)
    assert min(seconds) < 0.005
