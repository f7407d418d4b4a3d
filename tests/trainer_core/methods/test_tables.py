"""Every member of a kind of method has one formula, and a table that lacks one cannot be imported."""

from typing import get_args

import pytest

from trainer_core.methods import advantages, aggregation, corrections, filters, losses
from trainer_core.methods.table import Table
from trainer_core.rewards.length import apply as length
from trainer_core.spec.methods.advantage import Advantage
from trainer_core.spec.methods.aggregation import Aggregation
from trainer_core.spec.methods.corrections import Correction
from trainer_core.spec.methods.filters import Filter
from trainer_core.spec.methods.loss import LOSSES, Loss, PPOClipLoss, ReinforceLoss
from trainer_core.spec.rewards.length_shaping import LengthShaping

KINDS = {
    "loss": (Loss, losses.FORMULAS),
    "advantage": (Advantage, advantages.FORMULAS),
    "filter": (Filter, filters.FORMULAS),
    "correction": (Correction, corrections.FORMULAS),
    "aggregation": (Aggregation, aggregation.FORMULAS),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_member_of_the_union_has_a_formula(kind: str) -> None:
    union, table = KINDS[kind]
    members = get_args(get_args(union)[0])
    assert len(members) > 4
    for member in members:
        required = {name: 1 for name, field in member.model_fields.items() if field.is_required()}
        assert callable(table.of(member(**required)))


def test_every_length_shaping_has_an_entry() -> None:
    assert set(length.FORMULAS) == set(get_args(get_args(LengthShaping)[0]))


def test_a_member_without_a_formula_is_an_error() -> None:
    formulas = dict(losses.FORMULAS._formulas)
    del formulas[PPOClipLoss]
    with pytest.raises(TypeError, match="the loss PPOClipLoss has no formula"):
        Table("loss", LOSSES, formulas)


def test_a_formula_without_a_member_is_an_error() -> None:
    with pytest.raises(TypeError, match="the loss ReinforceLoss has no place in the spec"):
        Table("loss", (), {ReinforceLoss: losses.token_loss})
