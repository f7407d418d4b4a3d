"""Examples from rows: faults of rows, trajectories from their tokens, and counts of rows that were left out or cut."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trainer_core.episodes import Trajectory
from trainer_core.spec.data.prompt_format import PromptFormat
from trainer_core.spec.objective import Examples, Preference

WARNINGS = {
    "blank": "have an empty completion, and are left out",
    "equal": "have two completions of the same tokens, and are left out",
    "untaught": "have no token that could teach within objective.max_tokens, and are left out",
    "history": "have earlier turns of the assistant that the chat template writes differently from how the policy would"
    " produce them: only their completion teaches",
    "empty_turn": "have empty messages of the assistant, which do not teach",
    "reopened": "have a completion that opens the thinking, as the prompt already does: the second tag is left out",
    "control": "have text in a completion that looks like control tokens, and is encoded as text (control_tokens)",
    "unclosed": "have a prompt that opens the thinking, and a completion that never closes it",
    "unended": "end without an end-of-sequence token, since the policy's files name none",
}
"""Text of each kind of warning, with the rows as its subject."""


@dataclass(slots=True)
class WarnedRows:
    """Rows with one kind of warning."""

    rows: int
    first: int
    """Number of the first one."""
    last: int = -1
    """Number of the last one so far."""


@dataclass(slots=True)
class Account:
    """Counts of a dataset's rows, by what was done with them."""

    rows: int = 0
    examples: int = 0
    """Sequences to learn from; a pair counts once, a split row once for each part."""
    dropped: int = 0
    """Rows left out, for any reason."""
    too_long: int = 0
    """Rows of more than ``max_tokens`` tokens."""
    cut: int = 0
    """Rows cut at their end."""
    split: int = 0
    """Rows split into several examples."""
    longest: int = 0
    """Tokens of the longest row, before it is cut or split."""
    tokens: int = 0
    """Tokens of all examples."""
    taught: int = 0
    """Tokens that teach."""
    warnings: dict[str, WarnedRows] = field(default_factory=dict)
    """Rows by kind of warning; see ``WARNINGS``."""

    def warn(self, kind: str, row: int) -> None:
        """Count a row once under a kind of warning. Rows come in their order."""
        warned = self.warnings.setdefault(kind, WarnedRows(0, row))
        warned.rows += warned.last != row
        warned.last = row

    def sentences(self) -> list[str]:
        """Sentences for the person who started the run. Empty if every row is learned whole."""
        told = []
        for number, what in (
            (self.too_long - self.cut - self.split, "longer than objective.max_tokens and left out"),
            (self.cut, "longer than objective.max_tokens and cut at the end"),
            (self.split, "longer than objective.max_tokens and split into several"),
        ):
            if number:
                told.append(f"{number} of {self.rows} rows {'is' if number == 1 else 'are'} {what}.")
        told += [
            f"{warned.rows} of {self.rows} rows {WARNINGS[kind]}; row {warned.first} is the first."
            for kind, warned in self.warnings.items()
        ]
        return told


@dataclass(slots=True)
class Encoded:
    """The examples of a dataset's rows."""

    examples: list[tuple[Trajectory, ...]]
    """Per row: none if it is left out, several if it is split, the better and the worse completion of a pair."""
    account: Account


def columns_of(objective: Examples) -> tuple[str, ...]:
    """The columns in which the objective looks for completions."""
    if isinstance(objective, Preference):
        return objective.chosen, objective.rejected
    return (objective.completion,)


def whole_text(row: Mapping[str, Any], objective: Examples, form: PromptFormat) -> bool:
    """Whether a row without a completion is learned as the plain text that it is."""
    if isinstance(objective, Preference) or objective.learn != "all" or form.chat or "messages" in row:
        return False
    return row.get(objective.completion) is None


def fault_of(row: Mapping[str, Any], objective: Examples, form: PromptFormat) -> str | None:
    """Sentence about what is wrong with a row; None if it can become an example.

    Empty completions are no fault: such rows are left out and counted.
    """
    if whole_text(row, objective, form):
        return None
    for column in columns_of(objective):
        value = row.get(column)
        if value is None:
            return f"It has no `{column}`, in which the objective looks for a completion."
        if not isinstance(value, str):
            return f"`{column}` must be text, not {type(value).__name__}."
    roles = [message["role"] for message in row.get("messages") or ()]
    if roles and set(roles) == {"system"}:
        return "Its messages are a system prompt only: there is nothing to answer."
    for place, (one, other) in enumerate(pairwise([*roles, "assistant"]), 1):
        if one == other == "assistant":
            follows = f"message {place + 1}" if place < len(roles) else "the completion"
            return f"Message {place} and {follows} are both the assistant's: join them."
    return None


def example(name: str, ids: NDArray[np.int32], teaches: NDArray[np.bool_], prompt: int, *, whole: bool) -> Trajectory:
    """A trajectory of tokens that were written by others.

    Args:
        name: its id.
        ids: all tokens, shape [P + T].
        teaches: which of them are in the loss, shape [P + T].
        prompt: P, the tokens of the prompt, at least 1. They do not teach.
        whole: whether the text ends here, and was not cut.
    """
    count = len(ids) - prompt
    return Trajectory(
        trajectory_id=name,
        prompt_ids=ids[:prompt],
        token_ids=ids[prompt:],
        behaviour_logprobs=np.zeros(count, np.float32),
        versions=np.zeros(count, np.int32),
        sampled=teaches[prompt:],
        finish_reason="stop" if whole else "length",
        temperature=1.0,
    )


def windows(
    name: str, ids: NDArray[np.int32], teaches: NDArray[np.bool_], prompt: int, size: int
) -> Iterator[Trajectory]:
    """A long example in parts of at most ``size`` tokens. No token is repeated.

    The first token of a part is its prompt, so it does not teach. Parts in which nothing teaches are left out.
    """
    for place, start in enumerate(range(0, len(ids), size)):
        end = start + size
        head = min(prompt, len(ids[:end]) - 1) if start == 0 else 1
        if teaches[start + head : end].any():
            last = end >= len(ids)
            yield example(f"{name}-{place}", ids[start:end], teaches[start:end], head, whole=last)
