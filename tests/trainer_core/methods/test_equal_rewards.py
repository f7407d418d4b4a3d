"""Rewards that differ by their rounding alone carry no signal, whichever estimator divides by their deviation."""

from typing import Any

import pytest
import torch
from pydantic import TypeAdapter
from torch import Tensor

from tests.trainer_core.batches import group, trajectory
from trainer_core.methods import advantages
from trainer_core.methods.advantages.assign import assign
from trainer_core.methods.advantages.equality import ABSOLUTE, RELATIVE, differ
from trainer_core.methods.advantages.inputs import Inputs
from trainer_core.spec.methods.advantage import Advantage
from trainer_core.spec.methods.branching import VineAdvantage
from trainer_core.update.objective.standardise import standardise

SUM = 0.1 + 0.2
DIVIDING: list[dict[str, Any]] = [
    {"type": "grpo", "epsilon": 0.0},
    {"type": "grpo", "epsilon": 0.0, "std": "population", "whiten": "batch"},
    {"type": "dr_grpo", "whiten": "batch"},
    {"type": "rloo", "whiten": "batch"},
    {"type": "opo", "whiten": "batch"},
    {"type": "maxrl", "whiten": "batch"},
    {"type": "reinforce", "whiten": "batch"},
    {"type": "reinforce_pp", "epsilon": 0.0},
    {"type": "reinforce_pp", "epsilon": 0.0, "weighting": "samples", "std": "sample"},
    {"type": "reinforce_pp_baseline", "epsilon": 0.0},
    {"type": "gdpo", "epsilon": 0.0},
    {"type": "magistral", "epsilon": 0.0},
    {"type": "mc_grpo", "scale": "mad"},
    {"type": "mc_grpo", "scale": "std"},
    {"type": "vcpo", "whiten": "batch"},
]


def named(document: dict[str, Any]) -> Advantage:
    return TypeAdapter(Advantage).validate_python(document)


def found(document: dict[str, Any], rewards: list[list[float]]) -> Tensor:
    values = torch.tensor(rewards, dtype=torch.float64)
    inputs = Inputs(parts=values.unsqueeze(2), part_weights=torch.ones(1, dtype=torch.float64))
    return advantages.compute(named(document), values, torch.ones_like(values, dtype=torch.bool), inputs)


def test_the_sum_is_not_the_number() -> None:
    assert SUM != 0.3 and abs(SUM - 0.3) < 1e-16


@pytest.mark.parametrize("document", DIVIDING, ids=str)
@pytest.mark.parametrize("scale", [1.0, 1e6, 1e-3, -1.0])
def test_rounding_alone_makes_no_advantage(document: dict[str, Any], scale: float) -> None:
    equal = [SUM * scale, 0.3 * scale, 0.3 * scale]
    assert (found(document, [equal]) == 0.0).all()
    assert (found(document, [[0.1 + 0.2 - 0.3, 0.0, 0.0]]) == 0.0).all()


@pytest.mark.parametrize("document", DIVIDING, ids=str)
def test_a_difference_above_the_tolerance_is_a_signal(document: dict[str, Any]) -> None:
    advantage = found(document, [[0.3 + 1e-6, 0.3, 0.3 - 1e-6]])[0]
    assert advantage[0] > advantage[2] and advantage.abs().max() > 0


@pytest.mark.parametrize(
    "document", [one for one in DIVIDING if one["type"] not in ("reinforce", "reinforce_pp")], ids=str
)
def test_the_other_group_keeps_its_advantages(document: dict[str, Any]) -> None:
    silent, loud = found(document, [[SUM, 0.3, 0.3], [1.0, 0.0, 0.0]])
    if document["type"] in ("magistral", "reinforce_pp_baseline"):
        # They centre the batch as well; the mean of group-centred rewards is 0 but for its rounding.
        assert silent.abs().max() < 1e-15
    else:
        assert (silent == 0.0).all()
    assert loud[0] > 0 >= loud[1]


def test_the_tolerance_is_the_stated_one() -> None:
    one = torch.tensor(2.0, dtype=torch.float64)
    zero = torch.zeros((), dtype=torch.float64)
    assert not differ(one, one * (1 + 0.9 * RELATIVE)) and differ(one, one * (1 + 1.1 * RELATIVE))
    assert not differ(zero, zero + 0.9 * ABSOLUTE) and differ(zero, zero + 1.1 * ABSOLUTE)
    narrow = torch.tensor(2.0, dtype=torch.float32)
    assert not differ(narrow, torch.nextafter(narrow, narrow + 1)) and differ(narrow, narrow * 1.00001)


def test_values_of_states_are_whitened_by_the_same_rule() -> None:
    made = [trajectory(reward) for reward in (SUM, 0.3)]
    for one in made:
        one.step_starts, one.state_values = torch.tensor([0]).numpy(), torch.zeros(1, dtype=torch.float64).numpy()
    assign(VineAdvantage(whiten="batch"), [group(made)])
    assert all(one.token_advantages is not None and (one.token_advantages == 0.0).all() for one in made)


def test_tokens_of_a_step_are_standardised_by_the_same_rule() -> None:
    values = [[torch.tensor([SUM, 0.3], dtype=torch.float64)], [torch.tensor([0.3, 9.0], dtype=torch.float64)]]
    weights = [[torch.ones(2, dtype=torch.float64)], [torch.tensor([1.0, 0.0], dtype=torch.float64)]]
    assert all((one == 0.0).all() for part in standardise(values, weights, "population", 0.0) for one in part)
    values[1][0][0] = 0.9
    first, second = (part[0] for part in standardise(values, weights, "population", 0.0))
    torch.testing.assert_close(torch.cat([first, second]), torch.tensor([-1, -1, 2, 0]).double() / 2**0.5)
    values[1][0][0] = torch.nan
    assert torch.cat([part[0] for part in standardise(values, weights, "population", 0.0)])[:3].isnan().all()
