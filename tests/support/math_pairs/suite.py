"""The suite: all families, as they are written to ``tests/data/mathematics/pairs.jsonl``."""

import json
import random
from collections.abc import Iterator
from pathlib import Path

from tests.support.math_pairs import numbers, structures, words
from tests.support.math_pairs.pair import Family, Pair

FILE = Path(__file__).resolve().parents[2] / "data" / "mathematics" / "pairs.jsonl"
FAMILIES: tuple[Family, ...] = (
    numbers.integers, numbers.decimals, numbers.fractions, numbers.mixed_numbers, numbers.percentages, numbers.precision,
    numbers.constants, structures.intervals, structures.sets, structures.tuples, structures.lists, structures.expressions,
    structures.equations, structures.matrices, words.units, words.choices, words.texts, words.scripts, words.latex,
    words.completions,
)  # fmt: skip


def made() -> Iterator[Pair]:
    """All pairs, each once. A pair that two families make with both labels is a fault of theirs."""
    known: dict[tuple[str, str], bool] = {}
    for family in FAMILIES:
        whole = family is words.completions
        for gold, answer, right in family(random.Random(family.__name__)):
            if (gold, answer) in known:
                assert known[gold, answer] == right, (gold, answer)
                continue
            known[gold, answer] = right
            yield Pair(family.__name__, gold, answer, right, whole=whole)


def stored() -> list[Pair]:
    """The pairs of the file."""
    return [Pair(**json.loads(line)) for line in FILE.read_text().splitlines()]


def write() -> None:
    """Write the file."""
    lines = [
        json.dumps(
            {
                "family": pair.family, "gold": pair.gold, "answer": pair.answer, "right": pair.right, "whole": pair.whole
            },
            ensure_ascii=False,
        )
        for pair in made()
    ]  # fmt: skip
    FILE.write_text("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    write()
