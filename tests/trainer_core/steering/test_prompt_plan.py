"""How the samples of a group are asked: budgets, targets, strategies, interruptions, and what is told of them."""

from collections import Counter
from typing import Any

import pytest

from tests.trainer_core.specs import spec
from trainer_core.prompting.plan import (
    SamplePlan,
    check_rows,
    length_target,
    longest_text,
    plan_group,
    thinking_budget,
    with_text,
)
from trainer_core.spec import apply_control

ITEM = {"prompt": "12+30=", "answer": "42"}
TELL = " At most {tokens} tokens."


def thinking(**values: Any) -> Any:
    return spec(thinking={"type": "tags", **values})


def nudged(**values: Any) -> Any:
    source = {"type": "listed", "strategies": ["carry", "split", "guess"]}
    return spec(prompting={"nudges": {"source": source, **values}})


def test_the_plain_plan_is_the_bare_prompt() -> None:
    assert plan_group(spec(), ITEM, "1-0", 3) == (SamplePlan(),) * 3


def test_a_fixed_budget_and_end_hold_for_all() -> None:
    chosen = thinking(budget=8, forced_end="enough</think>")
    assert plan_group(chosen, ITEM, "1-0", 2) == (SamplePlan("", 8, "enough</think>"),) * 2


def test_a_column_budget_is_told_and_capped() -> None:
    chosen = thinking(prompt_budget={"type": "column", "column": "think", "tell": TELL})
    assert plan_group(chosen, {**ITEM, "think": 20}, "1-0", 1) == (SamplePlan(" At most 20 tokens.", 20),)
    capped = apply_control(chosen, "thinking.budget", 5)
    assert plan_group(capped, {**ITEM, "think": 20}, "1-0", 1) == (SamplePlan(" At most 5 tokens.", 5),)
    assert plan_group(capped, {**ITEM, "think": 3}, "1-0", 1) == (SamplePlan(" At most 3 tokens.", 3),)


@pytest.mark.parametrize("value", [None, -1, 2.5, "7", True])
def test_a_column_that_holds_no_number_is_an_error(value: Any) -> None:
    chosen = thinking(prompt_budget={"type": "column", "column": "think"})
    with pytest.raises(ValueError, match="'think' must contain a whole number, 0 or more"):
        plan_group(chosen, {**ITEM, "think": value}, "1-0", 1)
    with pytest.raises(ValueError, match="'think'"):
        plan_group(chosen, ITEM, "1-0", 1)


def test_sampled_budgets_fill_their_range_evenly() -> None:
    chosen = thinking(prompt_budget={"type": "sampled", "min": 3, "max": 6})
    counts = Counter(thinking_budget(chosen, ITEM, f"{step}-0") for step in range(4000))
    assert set(counts) == {3, 4, 5, 6}
    # Binomial(4000, 1/4): standard deviation 27.
    assert all(abs(count - 1000) < 5 * 27 for count in counts.values())
    assert {plan.thinking_budget for plan in plan_group(chosen, ITEM, "9-0", 8)} == {
        thinking_budget(chosen, ITEM, "9-0")
    }, "the samples of a group share their budget: they are compared with one another"


def test_plans_depend_on_seed_and_group_alone() -> None:
    one = thinking(prompt_budget={"type": "sampled", "min": 0, "max": 100})
    other = one.model_copy(update={"schedule": one.schedule.model_copy(update={"seed": 1})})
    groups = [f"{step}-{index}" for step in range(4) for index in range(8)]
    budgets = [thinking_budget(one, ITEM, name) for name in groups]
    assert budgets == [thinking_budget(one, ITEM, name) for name in groups]
    assert budgets != [thinking_budget(other, ITEM, name) for name in groups]


def test_a_steered_range_holds_at_once() -> None:
    chosen = thinking(prompt_budget={"type": "sampled", "min": 3, "max": 6})
    steered = apply_control(chosen, "thinking.prompt_budget.max", 3)
    assert {thinking_budget(steered, ITEM, f"{step}-0") for step in range(50)} == {3}


def test_interruptions_are_drawn_for_each_sample() -> None:
    phrases = ["Time is up.</think>", "I must stop here.</think>", "</think>"]
    plans = plan_group(thinking(budget=8, interruptions=phrases), ITEM, "1-0", 900)
    counts = Counter(plan.forced_end for plan in plans)
    assert set(counts) == set(phrases)
    # Binomial(900, 1/3): standard deviation 14.
    assert all(abs(count - 300) < 5 * 14 for count in counts.values())


def test_a_length_target_is_told() -> None:
    target = {"type": "sampled", "min": 10, "max": 90, "tell": " Think for {tokens} tokens."}
    chosen = spec(reward={"definition": "r@1", "length": {"type": "l1_exact", "target": target}})
    wanted = length_target(chosen, ITEM, "1-0")
    assert plan_group(chosen, ITEM, "1-0", 1) == (SamplePlan(f" Think for {wanted} tokens."),)
    assert length_target(spec(), ITEM, "1-0") is None


def test_nudges_come_in_blocks_of_different_strategies() -> None:
    texts = [plan.text for plan in plan_group(nudged(per_group=2, dropout=0.0), ITEM, "1-0", 6)]
    assert texts[0] == texts[1] == texts[2] != texts[3] == texts[4] == texts[5]
    assert set(texts) < {" Strategy: carry", " Strategy: split", " Strategy: guess"}
    every = [plan.text for plan in plan_group(nudged(per_group=9, dropout=0.0), ITEM, "1-0", 6)]
    assert Counter(every) == {" Strategy: carry": 2, " Strategy: split": 2, " Strategy: guess": 2}


def test_dropped_nudges_leave_the_bare_prompt() -> None:
    assert {plan.text for plan in plan_group(nudged(dropout=1.0), ITEM, "1-0", 8)} == {""}
    bare = sum(plan.text == "" for step in range(500) for plan in plan_group(nudged(dropout=0.3), ITEM, f"{step}-0", 4))
    # Binomial(2000, 0.3): standard deviation 20.
    assert abs(bare - 600) < 5 * 20


def test_nudges_of_the_prompt_s_own() -> None:
    chosen = spec(prompting={"nudges": {"source": {"type": "column"}, "dropout": 0.0, "text": "|{strategy}"}})
    assert {plan.text for plan in plan_group(chosen, {**ITEM, "strategies": ["halve"]}, "1-0", 4)} == {"|halve"}
    for wrong in ({}, {"strategies": []}, {"strategies": "halve"}, {"strategies": [1]}):
        with pytest.raises(ValueError, match="a list of texts in the column 'strategies'"):
            plan_group(chosen, {**ITEM, **wrong}, "1-0", 4)


def test_hint_strategy_and_number_stand_in_this_order() -> None:
    chosen = spec(
        prompting={
            "hints": {"text": " H:{hint}"},
            "nudges": {
                "source": {"type": "listed", "strategies": ["{tokens}"]},
                "dropout": 0.0,
                "text": " S:{strategy}",
            },
        },
        thinking={"type": "tags", "prompt_budget": {"type": "sampled", "min": 7, "max": 7, "tell": " T:{tokens}"}},
    )
    assert plan_group(chosen, ITEM, "1-0", 1, "{strategy}")[0].text == " H:{strategy} S:{tokens} T:7"
    assert plan_group(chosen, ITEM, "1-0", 1)[0].text == " S:{tokens} T:7", "no hint, no text around it"
    item = {**ITEM, "solution": "abcdef"}
    assert longest_text(chosen, item) == " H:abcdef S:{tokens} T:7"
    with pytest.raises(ValueError, match="a text in the column 'solution'"):
        longest_text(chosen, ITEM)


def test_the_longest_text_is_never_exceeded() -> None:
    target = {"type": "sampled", "min": 1, "max": 100, "tell": " {tokens}"}
    chosen = spec(
        reward={"definition": "r@1", "length": {"type": "l1_max", "target": target}},
        prompting={"nudges": {"source": {"type": "listed", "strategies": ["a", "bbb"]}}},
    )
    longest = len(longest_text(chosen, ITEM))
    lengths = {len(plan.text) for step in range(300) for plan in plan_group(chosen, ITEM, f"{step}-0", 4)}
    assert max(lengths) <= longest
    assert longest == len(" Strategy: bbb 100")


def test_text_goes_behind_the_prompt_or_the_last_message() -> None:
    assert with_text(ITEM, " now") == {"prompt": "12+30= now", "answer": "42"}
    chat = {"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}], "answer": 1}
    assert with_text(chat, " now") == {
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u now"}],
        "answer": 1,
    }
    assert chat["messages"][1]["content"] == "u", "the row itself stays as it is"  # type: ignore[index]


def test_every_row_is_checked_before_the_run_begins() -> None:
    chosen = thinking(prompt_budget={"type": "column", "column": "think"})
    check_rows(chosen, "sums", [{**ITEM, "think": 3}] * 2)
    with pytest.raises(ValueError, match="row 1 of the source 'sums': the column 'think' must contain a whole number"):
        check_rows(chosen, "sums", [{**ITEM, "think": 3}, ITEM])
    check_rows(spec(), "sums", [ITEM])
