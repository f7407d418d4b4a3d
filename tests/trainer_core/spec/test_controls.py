"""Controls: what may change in mid-run, and what is refused."""

from typing import Any

import pytest

from tests.trainer_core.specs import spec
from trainer_core.spec import ControlError, apply_control, apply_controls, targets, valid_order

STEERED = spec(
    thinking={"type": "tags", "budget": 16},
    curriculum={"type": "difficulty_band"},
    kl={"coefficient": 0.1},
)


def value_of(chosen: Any, path: str) -> Any:
    return next(target.value for target in targets(chosen) if target.path == path)


def test_targets_are_the_steerable_fields_with_boundary_and_value() -> None:
    found = {target.path: (target.boundary, target.value) for target in targets(STEERED)}
    boundary, guards = found.pop("guards")
    assert boundary == "optimizer_step" and [guard["name"] for guard in guards][:2] == ["entropy collapse", "mismatch"]
    assert found == {
        "data.sources.sums.weight": ("group_dispatch", 1.0),
        "data.sources.products.weight": ("group_dispatch", 3.0),
        "reward.definition": ("group_dispatch", "calculation@1"),
        "reward.shadow": ("group_dispatch", ()),
        "rollout.temperature": ("group_dispatch", 1.0),
        "rollout.max_tokens": ("group_dispatch", 128),
        "thinking.budget": ("group_dispatch", 16),
        "curriculum.min_pass_rate": ("group_dispatch", 0.05),
        "curriculum.max_pass_rate": ("group_dispatch", 0.95),
        "curriculum.explore": ("group_dispatch", 0.1),
        "loss.ratio_min": ("optimizer_step", 0.8),
        "loss.ratio_max": ("optimizer_step", 1.28),
        "corrections.truncated_is.ratio_max": ("optimizer_step", 2.0),
        "kl.coefficient": ("optimizer_step", 0.1),
        "optimizer.learning_rate": ("optimizer_step", 1e-6),
        "optimizer.max_grad_norm": ("optimizer_step", 1.0),
    }


def test_a_target_brings_the_schema_of_its_field() -> None:
    (budget,) = [target for target in targets(STEERED) if target.path == "thinking.budget"]
    assert budget.schema["unit"] == "tokens"
    assert budget.schema["description"].startswith("Most thinking tokens")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("data.sources.products.weight", 0.0),
        ("reward.definition", "calculation@2"),
        ("thinking.budget", 4),
        ("thinking.budget", None),
        ("curriculum.max_pass_rate", 0.5),
        ("corrections.truncated_is.ratio_max", 5.0),
        ("kl.coefficient", 0.2),
        ("kl.coefficient", 0.0),
        ("optimizer.learning_rate", 1e-4),
    ],
)
def test_a_control_changes_its_field_and_nothing_else(path: str, value: Any) -> None:
    changed = apply_control(STEERED, path, value)
    assert value_of(changed, path) == value
    before = value_of(STEERED, path)
    others = {target.path: target.value for target in targets(changed) if target.path != path}
    assert others == {target.path: target.value for target in targets(STEERED) if target.path != path}
    assert value_of(STEERED, path) == before
    if value_of(changed, "kl.coefficient"):
        assert apply_control(changed, path, before) == STEERED, "a control can be reverted"


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (
            "rollout.group_size",
            4,
            "rollout.group_size cannot change while the run is active; fork the run to change it",
        ),
        ("policy.base", "other", "fork the run"),
        ("nonsense", 1, "there is no field nonsense. Steerable here: data.sources.sums.weight"),
        ("data.sources.minus.weight", 1.0, "cannot change while the run is active"),
        ("optimizer.learning_rate", -1.0, r"optimizer.learning_rate: Input should be greater than 0"),
        ("optimizer.learning_rate", "fast", "valid number"),
        ("optimizer.learning_rate", float("nan"), "finite"),
        ("optimizer.learning_rate", None, "valid number"),
        ("thinking.budget", 128, r"a budget of 128 never applies.*\(at thinking.budget\)"),
        ("thinking.budget", 1.5, "valid integer"),
        ("rollout.max_tokens", 16, r"a budget of 16 never applies"),
        ("curriculum.min_pass_rate", 0.99, "min_pass_rate must not be above max_pass_rate"),
        ("loss.ratio_max", 0.28, "greater than or equal to 1"),
    ],
)
def test_a_control_that_makes_no_sense_is_refused(path: str, value: Any, message: str) -> None:
    with pytest.raises(ControlError, match=message):
        apply_control(STEERED, path, value)


def test_the_last_weight_cannot_be_taken_away() -> None:
    only = apply_control(spec(), "data.sources.sums.weight", 0.0)
    with pytest.raises(ControlError, match="at least one source needs a weight above zero"):
        apply_control(only, "data.sources.products.weight", 0.0)


def test_kl_cannot_be_raised_from_zero() -> None:
    # Nor after a control has set it to 0: a resumed learner would not have loaded the reference policy.
    for chosen in (spec(), apply_control(STEERED, "kl.coefficient", 0.0)):
        with pytest.raises(ControlError, match="at 0 the run has no reference policy; fork it"):
            apply_control(chosen, "kl.coefficient", 0.1)
    assert apply_control(spec(), "kl.coefficient", 0.0) == spec()


def test_what_a_spec_does_not_have_cannot_be_steered() -> None:
    paths = {target.path for target in targets(spec(loss={"type": "reinforce"}, corrections=[]))}
    assert not {path for path in paths if path.startswith(("thinking", "curriculum", "loss", "corrections"))}
    with pytest.raises(ControlError, match=r"thinking\.budget cannot change"):
        apply_control(spec(), "thinking.budget", 4)


BAND = [("curriculum.min_pass_rate", 0.96), ("curriculum.max_pass_rate", 0.99)]


def test_changes_are_judged_by_what_they_amount_to() -> None:
    with pytest.raises(ControlError, match="must not be above"):
        apply_control(STEERED, *BAND[0])
    changed = apply_controls(STEERED, [*BAND, ("optimizer.learning_rate", 1e-5)])
    assert [value_of(changed, path) for path, _ in BAND] == [0.96, 0.99]
    assert value_of(changed, "optimizer.learning_rate") == 1e-5
    assert apply_controls(STEERED, []) == STEERED


@pytest.mark.parametrize(
    ("changes", "index", "message"),
    [
        ([*BAND, ("nonsense", 1)], 2, "there is no field nonsense"),
        ([("policy.base", "other"), *BAND], 0, "fork the run"),
        ([("thinking.budget", 4), ("thinking.budget", 5)], 1, "thinking.budget is changed twice"),
        ([("optimizer.learning_rate", 1e-5), ("rollout.temperature", -1.0)], 1, "^rollout.temperature: Input"),
        ([*BAND, ("optimizer.learning_rate", -1.0)], 2, "^optimizer.learning_rate: Input should be greater"),
        ([("optimizer.learning_rate", -1.0), ("rollout.temperature", -1.0)], 0, "^optimizer.learning_rate"),
        ([("rollout.temperature", 0.5), ("rollout.max_tokens", 16)], 1, "^rollout.max_tokens: a budget of 16 never"),
        ([("data.sources.sums.weight", 0.0), ("data.sources.products.weight", 0.0)], 1, "at least one source"),
    ],
)
def test_the_change_at_fault_is_named(changes: list[tuple[str, Any]], index: int, message: str) -> None:
    with pytest.raises(ControlError, match=message) as refused:
        apply_controls(STEERED, changes)
    assert refused.value.index == index


def test_an_order_for_who_applies_one_by_one() -> None:
    changes = [*BAND, ("optimizer.learning_rate", 1e-5)]
    order = valid_order(STEERED, changes)
    assert order == [1, 0, 2]
    chosen = STEERED
    for index in order:
        chosen = apply_control(chosen, *changes[index])
    assert chosen == apply_controls(STEERED, changes)
