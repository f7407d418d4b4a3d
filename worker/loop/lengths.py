"""Checks of prompt and completion lengths against the engines' limits."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trainer_core.prompting.plan import longest_text
from trainer_core.spec import RunSpec
from trainer_core.spec.data.prompt_format import PromptFormat
from worker.errors import StartError
from worker.loop.parts import PromptRows


def check_lengths(spec: RunSpec, name: str, prompts: list[NDArray[np.int32]]) -> None:
    """Refuse a dataset with a prompt that is empty or leaves no room for the completion."""
    room = spec.rollout.engine.max_model_len - spec.rollout.max_tokens
    for row, prompt in enumerate(prompts):
        if not 1 <= len(prompt) <= room:
            raise StartError(
                f"Row {row} of {name} has a prompt of {len(prompt)} tokens; with max_tokens "
                f"{spec.rollout.max_tokens} and max_model_len {spec.rollout.engine.max_model_len}, "
                f"a prompt may have 1 to {room}."
            )


def longest_prompts(
    spec: RunSpec, rows: list[dict[str, Any]], form: PromptFormat
) -> tuple[list[dict[str, Any]], PromptFormat, list[str]]:
    """Rows that hints, nudges, targets or budgets make longer, with the longest text that may ever follow each.

    Raises:
        StartError: a row lacks a column that these texts need.
    """
    found = []
    for number, row in enumerate(rows):
        try:
            text = longest_text(spec, row)
        except ValueError as error:
            raise StartError(f"Row {number}: {error}") from error
        if text:
            found.append((row, text))
    return [row for row, _ in found], form, [text for _, text in found]


def longest_prompt(sources: dict[str, PromptRows]) -> int:
    """Tokens of the longest training prompt."""
    return max(data.longest for data in sources.values())


def room_check(sources: dict[str, PromptRows]) -> Callable[[RunSpec], str | None]:
    """Build a rule for controls: completions must fit after the longest prompt."""
    return partial(_no_room, longest_prompt(sources))


def _no_room(longest: int, spec: RunSpec) -> str | None:
    limit = spec.rollout.engine.max_model_len - longest
    if spec.rollout.max_tokens <= limit:
        return None
    return f"max_tokens may be at most {limit}: the longest prompt has {longest} tokens of max_model_len"
