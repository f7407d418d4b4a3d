"""Agreement of mathematical graders with labelled pairs: ``python scripts/grade_pairs.py [--peers PYTHON] [--write]``.

PYTHON is the interpreter of a throwaway environment in which other graders are installed, such as
``pip install "math-verify[antlr4_13_2]" mathruler pylatexenc tqdm``. Prints a table, and each pair that ours grades
otherwise than it is labelled; ``--write`` puts the table into docs/math-verification.md.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.support.math_pairs.pair import Pair
from tests.support.math_pairs.suite import stored
from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.graders.math import MathGrader
from trainer_core.rewards.sample import Sample
from worker.sandbox.pool import JailPool

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "math-verification.md"
START, END = "<!-- the table of scripts/grade_pairs.py -->", "<!-- its end -->"
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
    parser.add_argument("--write", action="store_true", help="write the table into the docs")
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
    if options.write:
        before, rest = PAGE.read_text().split(START)
        PAGE.write_text("\n".join([before + START, *table, END + rest.split(END)[1]]))
    sys.exit(0 if all(verdict == pair.right for pair, verdict in zip(pairs, verdicts, strict=True)) else 1)


if __name__ == "__main__":
    main()
