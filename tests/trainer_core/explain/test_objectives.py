"""Explanation of runs that learn from rows: batch, memory, methods and remarks are those of their objective."""

from dataclasses import replace
from typing import Any

import pytest

from tests.support.installation import ROOT
from trainer_core.explain import explain
from trainer_core.explain.memory_text import render_memory
from trainer_core.explain.text import render
from trainer_core.planning.memory import memory
from trainer_core.planning.policy_size import PolicySize
from trainer_core.spec import RunSpec

ROWS: dict[str, Any] = {
    "policy": {"base": "any"},
    "data": {"sources": [{"name": "a", "dataset": "rows@1"}]},
    "schedule": {"steps": 10, "prompts_per_step": 8, "updates_per_step": 2},
}
SIZE = PolicySize.of(ROOT / "demo" / "starter-policy")
BIG = 7_000_000_000


def spec(objective: dict[str, Any], **parts: Any) -> RunSpec:
    return RunSpec.model_validate({**ROWS, "objective": {"max_tokens": 100, **objective}, **parts})


def preference(loss: str) -> dict[str, Any]:
    return {"type": "preference", "loss": {"type": loss}}


def test_the_batch_counts_examples_and_both_sides_of_pairs() -> None:
    one, two = explain(spec({"type": "sft"})).batch, explain(spec(preference("dpo"))).batch
    assert (one.samples_per_prompt, one.samples_per_step, one.samples_per_update) == (1, 8, 4)
    assert (one.tokens_per_step, one.tokens_per_update, one.updates) == (800, 400, 20)
    assert (two.samples_per_prompt, two.samples_per_step, two.tokens_per_step) == (2, 16, 1600)


@pytest.mark.parametrize("loss", ["dpo", "ipo", "simpo", "orpo"])
def test_only_the_methods_of_the_objective_are_shown(loss: str) -> None:
    found = explain(spec(preference(loss)), SIZE)
    assert [method.path for method in found.methods] == ["objective.loss"]
    assert found.bands == ()
    assert "preference/accuracy" in found.watch
    text = render(found)
    assert "Effective batch" in text and "rollout engine" not in text


def test_a_run_from_rows_has_no_engine_and_its_longest_sequence_is_an_example() -> None:
    found = memory(SIZE, spec({"type": "sft"}))
    assert (found.engine.devices, found.engine.total, found.learner.export, found.learner.reference) == (0, 0, 0, 0)
    assert "key-value cache" not in render_memory(found)
    longer = memory(SIZE, spec({"type": "sft", "max_tokens": 1000}))
    assert longer.learner.activations > found.learner.activations
    pairs = memory(SIZE, spec(preference("simpo")))
    assert pairs.learner.activations > found.learner.activations


@pytest.mark.parametrize(
    ("loss", "adapter", "kept"),
    [("dpo", False, True), ("ipo", False, True), ("simpo", False, False), ("orpo", False, False), ("dpo", True, False)],
)
def test_a_reference_is_kept_where_the_loss_compares(loss: str, adapter: bool, kept: bool) -> None:
    """Under an adapter the frozen weights are the reference."""
    policy = {"base": "any", **({"adapter": {"type": "lora"}} if adapter else {})}
    assert (memory(SIZE, spec(preference(loss), policy=policy)).learner.reference > 0) == kept


RATES = [
    ({"type": "sft"}, False, 1e-6, 1e-4),
    ({"type": "sft"}, True, 1e-5, 1e-3),
    (preference("dpo"), False, 1e-7, 1e-5),
    (preference("ipo"), True, 1e-6, 1e-4),
    (preference("simpo"), False, 1e-7, 5e-6),
    (preference("orpo"), False, 1e-6, 5e-5),
]


@pytest.mark.parametrize(("objective", "adapter", "low", "high"), RATES)
def test_each_objective_has_its_band_of_learning_rates(
    objective: dict[str, Any], adapter: bool, low: float, high: float
) -> None:
    policy = {"base": "any", **({"adapter": {"type": "lora"}} if adapter else {})}
    size = replace(SIZE, parameters=BIG)

    def remarks(rate: float) -> tuple[str, ...]:
        return explain(spec(objective, policy=policy, optimizer={"learning_rate": rate}), size).remarks

    assert remarks(low) == remarks(high) == ()
    (above,), (below,) = remarks(1.1 * high), remarks(0.9 * low)
    assert f"{low:g} to {high:g}" in above and "is above" in above and "is below" in below


def test_rows_that_a_step_repeats_are_told_without_groups() -> None:
    [remark] = explain(spec({"type": "sft"}), rows={"rows@1": 3}).remarks
    assert remark == (
        "a has 3 rows, and a step takes 8 rows from it. So a step has the same row several times. "
        "Lower schedule.prompts_per_step, or add rows."
    )
    assert explain(spec({"type": "sft"}), rows={"rows@1": 8}).remarks == ()
