"""Rows whose answers are integers, or can be turned into integers, so that a rule can check them reliably.

Only the form of an answer decides, never a guess: rounded numbers, percentages and formulas are left out.
"""

import json
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa

from dressage.datasets.derivation.operations import IntegerAnswers
from dressage.datasets.derivation.tables import Counts, record_of
from dressage.datasets.rows.row import check_row
from dressage.datasets.versions import storage

_LONGEST = 200
"""Maximum length of an answer to examine. Longer ones are no numbers that a person wrote."""
_INTEGER = r"\d{1,3}(?:(?:,|\{,\}|\\,)\d{3})+|\d+"
_WHOLE = re.compile(rf"(?P<sign>[-+−]?)\s*(?P<number>{_INTEGER})(?:\.0*)?")
_FRACTION = re.compile(
    r"(?P<sign>[-+−]?)\s*(?:(?P<m>\d+)\s*/\s*(?P<n>\d+)"
    r"|\\[dt]?frac\s*(?:\{\s*(?P<inner>-?)\s*(?P<over>\d+)\s*\}|(?P<digit>\d))\s*(?:\{\s*(?P<under>\d+)\s*\}|(?P<below>\d)))"
)
_WRAPPINGS = (
    re.compile(r"\\boxed\s*\{(.*)\}", re.S),
    re.compile(r"\$\$(.+)\$\$", re.S),
    re.compile(r"\$(.+)\$", re.S),
    re.compile(r"\\\((.+)\\\)", re.S),
    re.compile(r"\\\[(.+)\\\]", re.S),
)
_DEGREES = re.compile(r"\s*(?:\^\s*(?:\\circ|\{\s*\\circ\s*\})|°)$")


def number_in(answer: str | None) -> Fraction | None:
    """The number that an answer consists of: an integer or a fraction. None for anything else, including decimals.

    Math delimiters, a box, thousands separators, a dollar sign and degrees are ignored.
    """
    if answer is None or len(answer) > _LONGEST:
        return None
    text = _bare(answer)
    if found := _WHOLE.fullmatch(text):
        return _signed(found["sign"], Fraction(int(re.sub(r"\D", "", found["number"]))))
    if found := _FRACTION.fullmatch(text):
        over, under = found["m"] or found["over"] or found["digit"], found["n"] or found["under"] or found["below"]
        if int(under) == 0 or (found["sign"] and found["inner"]):
            return None
        return _signed(found["sign"] or found["inner"], Fraction(int(over), int(under)))
    return None


def with_integers(path: Path, asked: IntegerAnswers, counts: Counts, changed: set[str]) -> Iterator[pa.Table]:
    """The rows with integer answers, in order. ``changed`` collects the ids of rows that were changed."""
    for table in storage.tables(path):
        counts.before += table.num_rows
        found = [number_in(answer) for answer in table.column("answer").to_pylist()]
        mask = [one is not None and (one.denominator == 1 or asked.fractions == "sum") for one in found]
        records = []
        numbers = (one for one, stays in zip(found, mask, strict=True) if stays and one is not None)
        for record, number in zip(table.filter(pa.array(mask, pa.bool_())).to_pylist(), numbers, strict=True):
            if number.denominator > 1 or str(number) != record["answer"]:
                changed.add(record["id"])
                record = record_of(check_row(_rewritten(record["row"], number, asked.sentence)), record["id"])
            records.append(record)
        counts.after += len(records)
        if records:
            yield pa.Table.from_pylist(records, schema=storage.SCHEMA)
    counts.removed, counts.changed = counts.before - counts.after, len(changed)


def _rewritten(text: str, number: Fraction, sentence: str) -> dict[str, Any]:
    row: dict[str, Any] = json.loads(text)
    answer = number.numerator if number.denominator == 1 else number.numerator + number.denominator
    row["answer"] = str(answer) if isinstance(row["answer"], str) else answer
    if number.denominator > 1 and "prompt" in row:
        row["prompt"] = f"{row['prompt']}\n\n{sentence}"
    elif number.denominator > 1:
        *before, last = row["messages"]
        row["messages"] = [*before, {**last, "content": f"{last['content']}\n\n{sentence}"}]
    return row


def _bare(text: str) -> str:
    """The text without anything around the number."""
    text = text.strip()
    while inside := next((found for one in _WRAPPINGS if (found := one.fullmatch(text))), None):
        text = inside[1].strip()
    text = _DEGREES.sub("", text)
    return text.removeprefix("\\$").removeprefix("$").strip()


def _signed(sign: str, number: Fraction) -> Fraction:
    return -number if sign in ("-", "−") else number
