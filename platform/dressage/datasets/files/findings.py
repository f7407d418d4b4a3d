"""Findings in an accepted file that deserve a second look: each kind with its number of rows and the first of them."""

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import repeat
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from typing_extensions import TypedDict

from trainer_core.datasets import control_tokens
from trainer_core.datasets.invisible import is_blank
from trainer_core.prompting.tools import COLUMN, tools_of

if TYPE_CHECKING:
    from dressage.datasets.files.columnar.stored import TakenRows

Code = Literal[
    "control_tokens",
    "duplicate_rows",
    "other_answers",
    "duplicate_ids",
    "pictures",
    "hidden_tools",
    "empty_answers",
    "missing_answers",
    "large_integers",
    "nan",
    "left_out",
]
EXACT = 1 << 53
"""Integers up to here are exact as 64-bit floating-point numbers, which browsers and many programs use."""
_FIRST_ROWS = 10
_TOKENS = 10
_MEDIA = re.compile(
    r"(?:\w+_)?(?:image|img|picture|photo|video|audio|pixel_value)s?(?:_?\d+)?(?:_(?:path|file|url|uri|byte|base64|b64)s?)?",
    re.IGNORECASE,
)
"""Names of columns with pictures, sound or film, as datasets for vision and speech have them."""


def is_closely_read(column: str) -> bool:
    """Whether rows with such a column are examined one by one."""
    return column == COLUMN or _MEDIA.fullmatch(column) is not None


class OriginWarning(TypedDict):
    """Something that was accepted but deserves a second look."""

    code: Code
    detail: str
    rows: int
    """Number of rows affected."""
    first_rows: list[int]
    """The first affected rows, counted from 1. For rows that were left out, their numbers in the file."""


class _Rows:
    """Number of rows of one kind, and the first of them."""

    def __init__(self) -> None:
        self.count = 0
        self.first: list[int] = []

    def add(self, number: int) -> None:
        self.count += 1
        if len(self.first) < _FIRST_ROWS:
            self.first.append(number)

    def warning(self, code: Code, one: str, many: str, rest: str) -> list[OriginWarning]:
        if not self.count:
            return []
        subject = f"1 row {one}" if self.count == 1 else f"{self.count:,} rows {many}"
        return [{"code": code, "detail": f"{subject} {rest}", "rows": self.count, "first_rows": self.first}]


class _Repeated:
    """Detects repeated values. Memory: 16 bytes per row, for 64-bit hashes that are valid in this process only."""

    def __init__(self) -> None:
        self._hashes = array("q")
        self._numbers = array("q")

    def add(self, value: object, number: int) -> None:
        self._hashes.append(hash(value))
        self._numbers.append(number)

    def add_all(self, values: Iterable[object], first: int) -> None:
        before = len(self._hashes)
        self._hashes.extend(map(hash, values))
        self._numbers.extend(range(first, first + len(self._hashes) - before))

    def rows(self) -> _Rows:
        found = _Rows()
        hashes = np.frombuffer(self._hashes, dtype=np.int64) if self._hashes else np.empty(0, np.int64)
        order = np.argsort(hashes, kind="stable")
        again = order[1:][hashes[order[1:]] == hashes[order[:-1]]]
        found.count = len(again)
        found.first = [self._numbers[place] for place in np.sort(again)[:_FIRST_ROWS]]
        return found


class _Contradicted:
    """Detects questions that occur with different answers. Memory: 24 bytes per row, for hashes as above."""

    def __init__(self) -> None:
        self._questions, self._answers, self._numbers = array("q"), array("q"), array("q")

    def add(self, question: object, answer: object, number: int) -> None:
        """Add a row with an answer."""
        self._questions.append(hash(question))
        self._answers.append(hash(answer))
        self._numbers.append(number)

    def rows(self) -> _Rows:
        """Rows whose question occurred before, and first with another answer."""
        found = _Rows()
        if not self._numbers:
            return found
        questions, answers = (np.frombuffer(one, np.int64) for one in (self._questions, self._answers))
        order = np.argsort(questions, kind="stable")
        starts = np.concatenate(([True], questions[order[1:]] != questions[order[:-1]]))
        first = np.maximum.accumulate(np.where(starts, np.arange(len(order)), 0))
        differ = order[answers[order] != answers[order[first]]]
        found.count = len(differ)
        found.first = [self._numbers[place] for place in np.sort(differ)[:_FIRST_ROWS]]
        return found


class Findings:
    """Examines rows in their stored form. Memory: 56 bytes per row, a few row numbers and tokens."""

    def __init__(self) -> None:
        self._control = _Rows()
        self._tokens: Counter[str] = Counter()
        self._columns: dict[str, None] = {}
        self._nan, self._large, self._empty, self._missing, self._left_out = (_Rows() for _ in range(5))
        self._media, self._tools = _Rows(), _Rows()
        self._media_columns: dict[str, None] = {}
        self._why_left_out = ""
        self._answered = False
        self._asked, self._ids = _Repeated(), _Repeated()
        self._answers = _Contradicted()

    def look(self, number: int, data: Mapping[str, Any], *, nan: bool = False) -> None:
        """Examine one row. Its number counts from 1."""
        found = {name: tokens for name, value in data.items() if (tokens := _tokens_in(value))}
        if found:
            self._control.add(number)
            for name, tokens in found.items():
                self._columns[name] = None
                self._tokens.update(token for token in tokens if token in self._tokens or len(self._tokens) < 100)
        if nan:
            self._nan.add(number)
        if any(map(_has_large, data.values())):
            self._large.add(number)
        self._look_at_answer(number, data.get("answer"))
        self._look_at_media(number, data)
        if data.get(COLUMN) and ("messages" not in data or not tools_of(data)):
            self._tools.add(number)
        asked = _asked(data)
        self._asked.add(asked, number)
        if data.get("answer") is not None:
            self._answers.add(asked[0], asked[1], number)
        given = data.get("id")
        if isinstance(given, str | int) and not isinstance(given, bool):
            self._ids.add(str(given), number)

    def look_at_all(self, first: int, rows: "TakenRows") -> None:
        """Examine rows that were taken as a block, without irregularities. The first has the number ``first``."""
        answers, tests = rows.values("answer"), rows.values("tests")
        numbers = range(first, first + len(rows))
        if answers is None:
            answers = [None] * len(rows)
        for number, answer in zip(numbers, answers, strict=True) if None in answers else ():
            if answer is None:
                self._missing.add(number)
        for number, question, answer in zip(numbers, rows.made.asked, answers, strict=True):
            if answer is not None:
                self._answers.add(question, str(answer), number)
        self._answered = self._answered or answers.count(None) < len(answers)
        told = map(str, tests) if tests is not None else repeat("None")
        self._asked.add_all(zip(rows.made.asked, map(str, answers), told), first)  # noqa: B905 - one may be endless
        for number, given in zip(numbers, rows.values("id") or (), strict=False):
            if isinstance(given, str | int) and not isinstance(given, bool):
                self._ids.add(str(given), number)

    def leave_out(self, number: int, why: str) -> None:
        """Record a row of the file that cannot be used."""
        self._why_left_out = self._why_left_out or why
        self._left_out.add(number)

    def warnings(self) -> list[OriginWarning]:
        """The findings, ordered by urgency."""
        missing = self._missing if self._answered else _Rows()
        tokens = ", ".join(f"`{token}`" for token, _ in self._tokens.most_common(_TOKENS))
        columns = ", ".join(f"`{name}`" for name in self._columns)
        return [
            *self._control.warning(
                "control_tokens",
                "holds",
                "hold",
                f"text that looks like control tokens ({tokens}) in {columns}. It was kept as it is, and the policy "
                "reads it as text, never as the tokens themselves.",
            ),
            *self._left_out.warning("left_out", "was", "were", f"left out. {self._why_left_out}"),
            *self._empty.warning(
                "empty_answers",
                "has",
                "have",
                "an `answer` that is empty. Graders that compare with it fail on such rows.",
            ),
            *missing.warning(
                "missing_answers",
                "has",
                "have",
                "no `answer`, and others have one. Graders that compare with it fail there.",
            ),
            *self._asked.rows().warning(
                "duplicate_rows",
                "asks",
                "ask",
                "what an earlier row asks, with the same answer. All were kept; a run draws such a prompt more often.",
            ),
            *self._answers.rows().warning(
                "other_answers",
                "asks",
                "ask",
                "what an earlier row asks, with another answer. All were kept. A reward that compares with the answer "
                "pays the same completion for one of the rows and not for the other. If all are right, put them "
                "into one row, with `answer` as a list.",
            ),
            *self._media.warning(
                "pictures",
                "holds",
                "hold",
                f"pictures, sound or film ({', '.join(f'`{name}`' for name in self._media_columns)}). The policy is "
                "given text only: it sees none of them, and reads what stands for them in a prompt, such as `<image>`, "
                "as text.",
            ),
            *self._tools.warning(
                "hidden_tools",
                "has",
                "have",
                "`tools` that the policy is not shown. A chat template gets tools that are a list of objects, or JSON "
                "text of one, in rows with `messages`.",
            ),
            *self._ids.rows().warning(
                "duplicate_ids",
                "has",
                "have",
                "the `id` of an earlier row. All were kept; ids do not tell such rows apart.",
            ),
            *self._nan.warning("nan", "holds", "hold", "NaN, which is no JSON. It was read as null."),
            *self._large.warning(
                "large_integers",
                "holds",
                "hold",
                "whole numbers beyond 2^53. They were kept exactly; programs that read them as floating point round.",
            ),
        ]

    def _look_at_answer(self, number: int, answer: Any) -> None:
        if answer is None:
            self._missing.add(number)
            return
        self._answered = True
        several = answer if isinstance(answer, list) else [answer]
        if not several or any(isinstance(one, str) and is_blank(one) for one in several):
            self._empty.add(number)

    def _look_at_media(self, number: int, data: Mapping[str, Any]) -> None:
        columns = [name for name, value in data.items() if value and _MEDIA.fullmatch(name)]
        if columns:
            self._media.add(number)
            self._media_columns |= dict.fromkeys(columns)


def _asked(data: Mapping[str, Any]) -> tuple[object, ...]:
    """Question and answer of a row, as a hashable value."""
    prompt: Any = data.get("prompt")
    if prompt is None:
        messages: Iterable[Mapping[str, Any]] = data["messages"]
        prompt = tuple((one["role"], one["content"]) for one in messages)
    # Rows with the same question but other tests or images are different.
    return prompt, str(data.get("answer")), str(data.get("tests"))


def _has_large(value: Any) -> bool:
    if isinstance(value, str | float) or value is None:
        return False
    if isinstance(value, int):
        return not -EXACT <= value <= EXACT
    if isinstance(value, list):
        return any(map(_has_large, value))
    return isinstance(value, dict) and any(map(_has_large, value.values()))


def _tokens_in(value: Any) -> list[str]:
    if isinstance(value, str):
        return control_tokens(value) if "<" in value or "[" in value else []
    if isinstance(value, list):
        return [token for one in value for token in _tokens_in(one)]
    if isinstance(value, dict):
        return [token for one in value.values() for token in _tokens_in(one)]
    return []
