"""Agreement of mathematical graders with labelled pairs: ``python scripts/grade_pairs.py [--peers PYTHON] [--load]
[--write]``.

PYTHON is the interpreter of a throwaway environment in which other graders are installed, such as
``pip install "math-verify[antlr4_13_2]" mathruler pylatexenc tqdm``. Prints a table, and each pair that ours grades
otherwise than it is labelled. ``--load`` grades all pairs once more beside 40 processes that compute without end, and
prints those whose verdict differs. ``--write`` puts what was measured into docs/math-verification.md.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.support.busy import busy
from tests.support.math_pairs.pair import Pair
from tests.support.math_pairs.suite import stored
from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.graders.math.math import MathGrader
from trainer_core.rewards.sample import Sample
from worker.sandbox.pool import JailPool

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "math-verification.md"
TABLE = "<!-- the table of scripts/grade_pairs.py -->", "<!-- its end -->"
UNDER_LOAD = "<!-- scripts/grade_pairs.py --load -->", "<!-- end of load -->"
LOAD = 40
GRADERS = 8
"""Processes that grade under load, else it would take a quarter of an hour."""
Verdicts = Sequence[bool | None]


def ours(pairs: Sequence[Pair]) -> Verdicts:
    """Verdicts of the product's grader, its calculations in the jail; None for errors."""
    jail = JailPool()
    found: list[bool | None] = []
    for pair in pairs:
        sample = Sample(output_text=pair.text, thinking_text=None, answer_text=pair.text, completion_tokens=1)
        try:
            found.append(MathGrader(**pair.options).grade(sample, {"answer": pair.gold}, jail) == 1.0)
        except GraderError as error:
            print(f"  {pair.family}: {error}")
            found.append(None)
    jail.close()
    return found


def beside(load: int, pairs: Sequence[Pair]) -> Verdicts:
    """Verdicts of the product's grader beside ``load`` busy processes, and beside other graders of the same kind.

    Each is a session of its own as each busy process is: a kernel that gives sessions equal shares treats them alike.
    """
    parts = [pairs[start::GRADERS] for start in range(GRADERS)]
    found: list[bool | None] = [None] * len(pairs)
    with busy(load), ProcessPoolExecutor(GRADERS, get_context("spawn"), os.setsid) as pool:
        for start, verdicts in enumerate(pool.map(ours, parts)):
            found[start::GRADERS] = verdicts
    return found


def differing(pairs: Sequence[Pair], alone: Verdicts, loaded: Verdicts) -> str:
    """Print the pairs whose verdicts differ, and tell how many they are."""
    count = 0
    for pair, one, other in zip(pairs, alone, loaded, strict=True):
        if one != other:
            count += 1
            print(f"  {pair.family}: {pair.gold!r} and {pair.answer!r}: {one} alone, {other} under load")
    cores = os.cpu_count() or 1
    return (
        f"Of the verdicts of all {len(pairs):,} pairs, graded by one process alone and again by {GRADERS} at once "
        f"beside {LOAD} processes\nthat compute without end, on {cores} cores, {count or 'none'} "
        f"{'differs' if count < 2 else 'differ'}."
    )


def written(page: str, marks: tuple[str, str], lines: Sequence[str]) -> str:
    """``page`` with ``lines`` between the marks."""
    before, rest = page.split(marks[0])
    return "\n".join([before + marks[0], *lines, marks[1] + rest.split(marks[1])[1]])


def peers(python: str, pairs: Sequence[Pair]) -> dict[str, Verdicts]:
    """Verdicts of other graders, by their names."""
    lines = [json.dumps({"gold": pair.gold, "answer": pair.answer, "text": pair.text}) for pair in pairs]
    command = [python, str(ROOT / "scripts" / "peer_pairs.py")]
    done = subprocess.run(command, input="\n".join(lines), stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Verdicts] = json.loads(done.stdout)
    return found


def row(name: str, pairs: Sequence[Pair], verdicts: Verdicts) -> str:
    """A line of the table. An error counts as a disagreement, and pays nobody."""
    agree = sum(verdict == pair.right for pair, verdict in zip(pairs, verdicts, strict=True))
    paid = sum(verdict is True and not pair.right for pair, verdict in zip(pairs, verdicts, strict=True))
    unpaid = sum(verdict is not True and pair.right for pair, verdict in zip(pairs, verdicts, strict=True))
    errors = sum(verdict is None for verdict in verdicts)
    return f"| {name} | {agree / len(pairs):.2%} | {paid} | {unpaid} | {errors} |"


def main() -> None:
    """Grade, print, and fail where ours disagrees with a label."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", metavar="PYTHON", help="interpreter that has other graders")
    parser.add_argument("--load", action="store_true", help=f"grade again beside {LOAD} busy processes")
    parser.add_argument("--write", action="store_true", help="write what was measured into the docs")
    options = parser.parse_args()
    pairs = stored()
    started = time.perf_counter()
    verdicts = ours(pairs)
    seconds = time.perf_counter() - started
    for pair, verdict in zip(pairs, verdicts, strict=True):
        if verdict != pair.right:
            print(f"  {pair.family}: {pair.gold!r} and {pair.answer!r} labelled {pair.right}, graded {verdict}")
    others = peers(options.peers, pairs) if options.peers else {}
    right = sum(pair.right for pair in pairs)
    table = [
        f"| {len(pairs):,} pairs, {right:,} of them right | agreement | paid for wrong | not paid for right | errors |",
        "|---|---|---|---|---|",
        row("Dressage", pairs, verdicts),
        *(row(name, pairs, found) for name, found in others.items()),
    ]
    print("\n".join(table), f"\n{seconds:.0f} s for ours")
    told = differing(pairs, verdicts, beside(LOAD, pairs)) if options.load else ""
    print(told)
    if options.write:
        page = PAGE.read_text()
        if others:  # a table without the peers would drop what was measured of them
            page = written(page, TABLE, table)
        if told:
            page = written(page, UNDER_LOAD, [told])
        PAGE.write_text(page)
    sys.exit(0 if all(verdict == pair.right for pair, verdict in zip(pairs, verdicts, strict=True)) else 1)


if __name__ == "__main__":
    main()
