"""The suite: all families, as they are written to ``tests/data/mathematics/pairs.jsonl``."""

import json
import random
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.support.math_pairs import (
    branches,
    by_hand,
    chosen,
    contests,
    neighbours,
    numbers,
    reviewed,
    strangers,
    structures,
    words,
)
from tests.support.math_pairs.pair import Family, Pair

FILE = Path(__file__).resolve().parents[2] / "data" / "mathematics" / "pairs.jsonl"
PLAIN: tuple[Family, ...] = (
    numbers.integers,
    numbers.decimals,
    numbers.fractions,
    numbers.mixed_numbers,
    numbers.percentages,
    numbers.precision,
    numbers.constants,
    structures.intervals,
    structures.sets,
    structures.tuples,
    structures.lists,
    structures.expressions,
    structures.equations,
    structures.matrices,
    words.units,
    words.choices,
    words.texts,
    words.scripts,
    words.latex,
    chosen.exclusive,
    chosen.several_accepted,
    branches.branches,
    branches.sizes,
    branches.names,
    by_hand.boxed,
    reviewed.reviewed_boxes,
    strangers.strange_boxes,
    neighbours.mended_boxes,
    neighbours.unseen_boxes,
    contests.contest_boxes,
    contests.unseen_contest_boxes,
)
"""Families of boxed answers under the grader's defaults."""
WHOLE: Mapping[Family, Mapping[str, Any]] = {
    words.completions: {},
    by_hand.completions: {},
    reviewed.reviewed_completions: {},
    strangers.strange_completions: {},
    neighbours.mended_completions: {},
    neighbours.unseen_completions: {},
    chosen.last_numbers: {"extraction": "last_number"},
}
"""Families of whole completions, with their options."""
CHOSEN: Mapping[Family, Mapping[str, Any]] = {
    chosen.typed_intervals: {"answer_type": "interval"},
    chosen.typed_sets: {"answer_type": "set"},
    chosen.typed_tuples: {"answer_type": "tuple"},
    chosen.typed_equations: {"answer_type": "equation"},
    chosen.typed_numbers: {"answer_type": "number"},
    chosen.typed_expressions: {"answer_type": "expression"},
    chosen.typed_matrices: {"answer_type": "matrix"},
    chosen.typed_choices: {"answer_type": "choice"},
    chosen.typed_text: {"answer_type": "text"},
    chosen.written_out_units: {"units": "required"},
}
"""Families of boxed answers, with their options."""


def made() -> Iterator[Pair]:
    """All pairs, each once. A pair that two families make with both labels is a fault of theirs."""
    known: dict[str, bool] = {}
    for family, options, whole in (
        *((family, {}, False) for family in PLAIN),
        *((family, options, True) for family, options in WHOLE.items()),
        *((family, options, False) for family, options in CHOSEN.items()),
    ):
        for gold, answer, right in family(random.Random(family.__name__)):
            key = json.dumps([gold, answer, dict(options), whole])
            assert known.setdefault(key, right) == right, key
            pair = Pair(family.__name__, gold, answer, right, dict(options), whole)
            if known.get(f"made {key}") is None:
                known[f"made {key}"] = True
                yield pair


def stored() -> list[Pair]:
    """The pairs of the file."""
    return [Pair(**json.loads(line)) for line in FILE.read_text().splitlines()]


def write() -> None:
    """Write the file."""
    lines = [json.dumps(asdict(pair), ensure_ascii=False) for pair in made()]
    FILE.write_text("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    write()
