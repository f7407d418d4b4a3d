"""Guesses the gold answer, and verifies the guess on every row."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from trainer_core.datasets.mapping.answer import AnswerReader
from trainer_core.datasets.mapping.document import MappedAnswer
from trainer_core.datasets.mapping.options import options_of
from trainer_core.datasets.mapping.path import MISSING, Step, parse_path, value_at, written
from trainer_core.datasets.mapping.proposal.columns import FirstRows

_GOLD = (
    "final_answer", "expected_answer", "ground_truth", "answer", "gold_answer", "gold", "correct_answer", "best_answer",
    "reference_answer", "short_answer", "answers", "answers_spans", "target", "targets", "truth",
)  # fmt: skip
_SOLUTIONS = ("solution", "response", "output", "completion", "rationale", "explanation", "generated_solution", "label")
_CHOSEN = (
    "answer_key", "answerkey", "answer_idx", "answer_index", "answer_id", "correct_choice", "correct_option",
    "correct_index", "correct_idx", "cop", "label", "gold_label", "gold", "correct", "correct_answer", "answer",
    "target", "ground_truth", "answer_letter", "solution",
)  # fmt: skip
_INSIDE: tuple[tuple[Step, ...], ...] = (("value",), ("text", 0), ("spans", 0), (0,), (0, "text"), ("text",))
"""Places of an answer in a column with several: in SQuAD, TriviaQA, DROP and NQ."""
_MARKERS = ("####", "The answer is:", "The answer is", "Final answer:", "Answer:")
_SHORT = 120
_SEVERAL = "`{name}` lists several accepted answers; the first becomes the gold answer."
_PROSE = "`{name}` is unchanged: it contains whole texts, which no grader compares exactly."


@dataclass(frozen=True, slots=True)
class AnswerGuess:
    """The answer's place; None if there are only notes."""

    answer: MappedAnswer | None
    notes: tuple[str, ...] = ()


def guess_choice(columns: FirstRows, choices: tuple[str, ...]) -> AnswerGuess | None:
    """The rule by which a column names the right option in all rows; None if no rule is certain."""
    for name in columns.named(_CHOSEN):
        path = written([name])
        if path in choices:
            continue
        # Numbers are positions, or labels from the file; if the option texts are numbers, it is ambiguous.
        numbers = columns.all((name,), lambda value: str(value).strip().isdigit())
        for rule in ("choice_label",) if numbers else ("choice_label", "choice_text"):
            guess = MappedAnswer(path=path, rule=rule, choices=list(choices))
            if _reads_all(columns, guess):
                return AnswerGuess(guess)
        first = _first_number(columns, name, choices)
        if first is not None:
            guess = MappedAnswer(path=path, rule="choice_index", choices=list(choices), first=first)
            if _reads_all(columns, guess):
                return AnswerGuess(guess)
    return None


def names_choice(columns: FirstRows) -> bool:
    """Whether a column has a typical name of a column with the right option."""
    return bool(columns.named(_CHOSEN))


def guess_answer(columns: FirstRows) -> AnswerGuess | None:
    """The answer to an open question."""
    for name in columns.named(_GOLD):
        if columns.all((name,), _is_short):
            return AnswerGuess(MappedAnswer(path=written([name])))
        marked = _marked(columns, name)
        if marked is not None:
            return AnswerGuess(marked)
        inside = _inside(columns, name)
        if inside is not None:
            return inside
    for name in columns.named(_SOLUTIONS):
        marked = _marked(columns, name)
        if marked is not None:
            return AnswerGuess(marked)
    for name in columns.named(("output", "response", "completion", *_GOLD)):
        if columns.is_text(name):
            short = columns.all((name,), _is_short) and name in columns.named(("output", "response", "completion"))
            if short:
                return AnswerGuess(MappedAnswer(path=written([name])))
            return AnswerGuess(None, (_PROSE.format(name=name[:80]),))
    return None


def _marked(columns: FirstRows, name: str) -> MappedAnswer | None:
    """The text in the last box, or after a marker, if all rows have it."""
    if not columns.is_text(name):
        return None
    path = written([name])
    guesses = [MappedAnswer(path=path, rule="after_marker", marker=_MARKERS[0])]
    guesses.append(MappedAnswer(path=path, rule="boxed"))
    guesses += [MappedAnswer(path=path, rule="after_marker", marker=marker) for marker in _MARKERS[1:]]
    for guess in guesses:
        if _reads_all(columns, guess) and all(len(answer or "") <= _SHORT for answer in _answers(columns, guess)):
            return guess
    return None


def _inside(columns: FirstRows, name: str) -> AnswerGuess | None:
    for steps in _INSIDE:
        values = columns.values(name, *steps)
        there = [value for value in values if value is not MISSING]
        # Questions that cannot be answered have empty lists, as in SQuAD 2.
        empty = all(
            value is not MISSING or _is_empty(whole) for value, whole in zip(values, columns.values(name), strict=True)
        )
        if there and empty and all(map(_is_short, there)):
            several = any(_count(whole) > 1 for whole in columns.values(name))
            optional = len(there) < len(values)
            notes = (_SEVERAL.format(name=name[:80]),) if several else ()
            return AnswerGuess(MappedAnswer(path=written([name, *steps]), optional=optional), notes)
    return None


def _first_number(columns: FirstRows, name: str, choices: tuple[str, ...]) -> Literal[0, 1] | None:
    """Whether options are counted from 0 or from 1, if the rows show it."""
    paths = [parse_path(path) for path in choices]
    low = high = False
    for row in columns.rows:
        text = str(value_at(row, (name,))).strip()
        if not (text.isascii() and text.isdigit() and len(text) < 4):
            return None
        one = len(paths) == 1
        count = len(options_of(value_at(row, paths[0]), "options").texts) if one else len(paths)
        low = low or int(text) == 0
        high = high or int(text) == count
        if int(text) > count:
            return None
    if low == high:
        return None
    return 0 if low else 1


def _reads_all(columns: FirstRows, guess: MappedAnswer) -> bool:
    try:
        _answers(columns, guess)
    except ValueError:
        return False
    return True


def _answers(columns: FirstRows, guess: MappedAnswer) -> Sequence[str | list[str] | None]:
    reader = AnswerReader(guess, parse_path(guess.path), [parse_path(path) for path in guess.choices])
    return [reader.read(row) for row in columns.rows]


def _is_short(value: Any) -> bool:
    if isinstance(value, str):
        return 0 < len(value.strip()) <= _SHORT and "\n" not in value.strip()
    return isinstance(value, bool | int | float)


def _is_empty(value: Any) -> bool:
    if isinstance(value, dict):
        return all(inner in ([], "", None) for inner in value.values())
    return value in ([], "", None)


def _count(value: Any) -> int:
    if isinstance(value, list):
        return len(value)
    if isinstance(value, dict):
        return max((len(inner) for inner in value.values() if isinstance(inner, list)), default=1)
    return 1
