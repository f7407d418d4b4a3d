"""Shadow rewards against the trained one, by hand and by numpy."""

from dataclasses import replace

import numpy as np
import pytest

from tests.trainer_core.batches import group, trajectory
from trainer_core.rewards.shadow import shadow_metrics


def test_by_hand() -> None:
    rows = [
        trajectory(1.0, shadow_rewards={"b@1": 3.0}),
        trajectory(0.5, shadow_rewards={"b@1": 1.0}),
        trajectory(0.0, shadow_rewards={"b@1": 2.0}),
        trajectory(0.0, shadow_errors={"b@1": "judge: away"}),
        trajectory(None, shadow_rewards={"b@1": 6.0}),
    ]
    found = shadow_metrics([group(rows)], {"b@1": 2.0})
    assert found == {
        "reward_shadow/b@1/errors": 1.0,
        "reward_shadow/b@1/mean": 3.0,
        "reward_shadow/b@1/agreement": pytest.approx(1 / 3),
        "reward_shadow/b@1/correlation": pytest.approx(np.corrcoef([3.0, 1.0, 2.0], [1.0, 0.5, 0.0])[0, 1]),
    }


def test_the_runs_own_shaping_is_no_part_of_the_comparison() -> None:
    shaped = trajectory(0.25, reward_parts={"right": 1.0, "overlong": -0.5}, length_correction=-0.25)
    plain = trajectory(0.0, reward_parts={"right": 0.0})
    for one, value in ((shaped, 1.0), (plain, 0.0)):
        one.verdict = replace(one.verdict, shadow_rewards={"b@1": value})
    found = shadow_metrics([group([shaped, plain])], {"b@1": 0.5})
    assert found["reward_shadow/b@1/agreement"] == 1.0
    assert found["reward_shadow/b@1/correlation"] == pytest.approx(1.0)


def test_nothing_is_said_where_nothing_is_known() -> None:
    assert shadow_metrics([group([trajectory(1.0)])], {}) == {}
    failed = [trajectory(1.0, shadow_errors={"b@1": "away"}), trajectory(None, shadow_rewards={"c@1": 1.0})]
    found = shadow_metrics([group(failed)], {"b@1": 0.5, "c@1": 0.5})
    assert found == {"reward_shadow/b@1/errors": 1.0, "reward_shadow/c@1/errors": 0.0, "reward_shadow/c@1/mean": 1.0}
    equal = [trajectory(0.1, shadow_rewards={"b@1": value}) for value in (0.1, 0.2)]
    assert "reward_shadow/b@1/correlation" not in shadow_metrics([group(equal)], {"b@1": 0.5})


def test_each_group_succeeds_by_its_own_version() -> None:
    old = group([trajectory(1.0, shadow_rewards={"c@1": 1.0})], threshold=0.5)
    new = group([trajectory(1.0, shadow_rewards={"c@1": 0.0})], threshold=2.0)
    assert shadow_metrics([old, new], {"c@1": 0.5})["reward_shadow/c@1/agreement"] == 1.0
