"""The thinking tracker against a plain definition, marker by marker."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support.tokenizers import CONTROL, byte_level, write_folder
from trainer_core.prompting.tags import CHANNELS, HARMONY, FoundThinking
from trainer_core.rewards.sample import split_thinking
from trainer_core.spec.generation.thinking import TaggedThinking
from worker.engine.request.thinking import ThinkingTracker
from worker.engine.tokenizer import PolicyTokenizer
from worker.engine.types import ThinkTokens

ONE = ThinkTokens(start_ids=(7,), end_ids=(8,))
TWO = ThinkTokens(start_ids=(6, 7), end_ids=(8, 9))


def feed(tracker: ThinkingTracker, tokens: list[int]) -> list[bool]:
    return [tracker.feed(tokens[: count + 1]) for count in range(len(tokens))]


@pytest.mark.parametrize(
    ("prompt", "open_at_start"),
    [((1, 7), True), ((1, 7, 8), False), ((7, 8, 7, 2), True), ((1, 2), False), ((8,), False)],
)
def test_prompt_decides_whether_thinking_is_open(prompt: tuple[int, ...], open_at_start: bool) -> None:
    assert ThinkingTracker(ONE, prompt, None).open is open_at_start


def test_counts_tokens_between_markers_only() -> None:
    tracker = ThinkingTracker(TWO, (1,), None)
    assert not any(feed(tracker, [3, 6, 7, 3, 3, 3, 8, 9, 4, 4]))
    assert (tracker.open, tracker.spent, tracker.budget_hit) == (False, 3, False)


def test_all_tokens_count_when_thinking_never_closes() -> None:
    tracker = ThinkingTracker(TWO, (6, 7), None)
    feed(tracker, [3, 8, 3])
    assert (tracker.open, tracker.spent) == (True, 3)


def test_budget_is_spent_at_exactly_its_last_token() -> None:
    tracker = ThinkingTracker(ONE, (7,), 3)
    tokens = [1, 2, 3]
    assert feed(tracker, tokens) == [False, False, True]
    assert tracker.force_end(tokens) == (8,)
    assert (tracker.open, tracker.spent, tracker.budget_hit) == (False, 3, True)


def test_policy_that_closes_in_time_is_left_alone() -> None:
    tracker = ThinkingTracker(ONE, (7,), 3)
    assert not any(feed(tracker, [1, 2, 8, 1, 1, 1, 1]))
    assert (tracker.spent, tracker.budget_hit) == (2, False)


def test_half_written_end_marker_is_completed_rather_than_repeated() -> None:
    tracker = ThinkingTracker(TWO, (6, 7), 3)
    tokens = [1, 2, 8]
    assert feed(tracker, tokens)[-1]
    assert tracker.force_end(tokens) == (9,)
    assert tracker.spent == 2


def test_forced_text_before_the_marker_is_injected_whole() -> None:
    markers = ThinkTokens(start_ids=(6, 7), end_ids=(8, 9), forced_end_ids=(5, 8, 9))
    tracker = ThinkingTracker(markers, (6, 7), 2)
    tokens = [1, 8]
    assert feed(tracker, tokens)[-1]
    assert tracker.force_end(tokens) == (5, 8, 9)


def test_start_marker_cut_between_prompt_and_completion() -> None:
    tracker = ThinkingTracker(TWO, (1, 6), None)
    feed(tracker, [7, 3, 3])
    assert (tracker.open, tracker.spent) == (True, 2)


def test_reopened_thinking_draws_on_the_same_budget() -> None:
    tracker = ThinkingTracker(ONE, (1,), 3)
    assert feed(tracker, [7, 1, 1, 8, 7, 1]) == [False, False, False, False, False, True]


def test_budget_of_zero_ends_thinking_as_it_opens() -> None:
    assert ThinkingTracker(ONE, (7,), 0).exhausted
    assert feed(ThinkingTracker(ONE, (1,), 0), [2, 7]) == [False, True]


def test_without_a_start_marker_completions_begin_inside_thinking() -> None:
    tracker = ThinkingTracker(ThinkTokens(start_ids=(), end_ids=(8,)), (8, 1), 4)
    assert tracker.open
    feed(tracker, [1, 1, 8, 1])
    assert (tracker.open, tracker.spent) == (False, 2)


def test_markers_without_an_end_are_refused() -> None:
    with pytest.raises(ValueError, match="end_ids"):
        ThinkTokens(start_ids=(1,), end_ids=())


TAGGED = FoundThinking("<think>", "</think>")
SPELLED = FoundThinking("[THINK]", "[/THINK]")


@pytest.mark.parametrize("tags", [TAGGED, SPELLED, CHANNELS], ids=["tokens", "spelled", "channels"])
@pytest.mark.parametrize("budget", [0, 1, 2, 7, 30])
def test_budgets_are_exact_whatever_marks_the_thinking(tmp_path: Path, tags: FoundThinking, budget: int) -> None:
    control = HARMONY if tags is CHANNELS else CONTROL
    tokenizer = PolicyTokenizer(write_folder(tmp_path, byte_level(control)))
    thinking = TaggedThinking(
        start=tags.start, end=tags.end, forced_end=tags.forced_end, answer_start=tags.answer_start, budget=budget
    )
    markers = tokenizer.think_tokens(thinking)
    assert markers is not None
    thoughts = tokenizer.encode_tag("The quick brown fox jumps over the lazy dog. ")
    tracker = ThinkingTracker(markers, (), budget)
    tokens: list[int] = []
    for token in (*markers.start_ids, *thoughts):
        tokens.append(token)
        if tracker.feed(tokens):
            tokens += tracker.force_end(tokens)
            break
    assert tracker.spent == min(budget, len(thoughts))
    assert tracker.budget_hit == (budget <= len(thoughts))
    text = tokenizer.decode([np.array(tokens, np.int32)], [])[0]
    if tracker.budget_hit:
        kept = tokenizer.decode([np.array(thoughts[:budget], np.int32)], [])[0].strip()
        assert split_thinking(f"{text}24", tags.start, tags.end, tags.answer_start) == (kept, "24")
