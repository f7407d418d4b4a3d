"""Grades reference solutions: ``python scripts/grade_references.py FOLDER [set …] [--every N]``.

FOLDER holds gsm8k/, math500/, humaneval/ and mbpp/ in their original formats. Each reference must score 1, and the same
reference against a changed answer, or with a changed program, 0. Prints the exceptions and the counts.
"""

import argparse
import ast
import gzip
import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from trainer_core.datasets import recognise
from trainer_core.rewards.graders.code.code_tests import CodeTestsGrader
from trainer_core.rewards.graders.jail import Jail
from trainer_core.rewards.graders.math.math import MathGrader
from trainer_core.rewards.sample import Sample
from worker.sandbox.pool import JailPool

Case = tuple[str, str, dict[str, Any], str, dict[str, Any]]
"""Name, reference answer, its row, and the answer and row that must fail."""


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """Objects of a JSONL file, which may be packed."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        yield from map(json.loads, file)


def gsm8k(folder: Path) -> Iterator[Case]:
    """Every solution of both files, its answer in the last number."""
    for path in sorted((folder / "gsm8k").glob("*.jsonl")):
        for index, row in enumerate(lines(path)):
            item = mapped(row)
            changed = item | {"answer": str(int(item["answer"]) + 1)}
            yield f"{path.name}:{index}", row["answer"], item, row["answer"], changed


def math500(folder: Path) -> Iterator[Case]:
    """Every solution of MATH-500, boxed."""
    for row in lines(folder / "math500" / "test.jsonl"):
        item = mapped(row)
        changed = item | {"answer": other_answer(row["answer"])}
        yield row["unique_id"], row["solution"], item, row["solution"], changed


def other_answer(answer: str) -> str:
    """An answer of the same form that is another one: with another first number, or one more, or other words."""
    if answer.startswith("\\text"):
        return "\\text{something else}"
    if not (number := re.search(r"\d+", answer)):
        return f"{answer}+1"
    last = number.end() - 1
    return f"{answer[:last]}{'8' if answer[last] == '9' else int(answer[last]) + 1}{answer[last + 1 :]}"


def humaneval(folder: Path) -> Iterator[Case]:
    """Every canonical solution, and the same function returning something else."""
    for row in lines(next((folder / "humaneval").glob("HumanEval.jsonl*"))):
        item, code = mapped(row), row["prompt"] + row["canonical_solution"]
        yield row["task_id"], code, item, mutated(code, row["entry_point"]), item


def mbpp(folder: Path) -> Iterator[Case]:
    """Every solution of the sanitized MBPP, and the same functions returning something else."""
    for row in json.loads((folder / "mbpp" / "sanitized-mbpp.json").read_text()):
        item = mapped(row)
        yield f"mbpp/{row['task_id']}", row["code"], item, mutated(row["code"], None), item


def mapped(row: dict[str, Any]) -> dict[str, Any]:
    """The row as an upload stores it."""
    return recognise(row).convert(row)


def mutated(code: str, name: str | None) -> str:
    """``code`` in which the function ``name``, or each one, returns what no test expects."""
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and name in (None, node.name):
            node.body = [ast.Return(ast.Constant("no such answer"))]
    return ast.unparse(ast.fix_missing_locations(tree))


SETS: dict[str, tuple[Callable[[Path], Iterator[Case]], Any]] = {
    "gsm8k": (gsm8k, MathGrader(extraction="last_number")),
    "math500": (math500, MathGrader(timeout_s=10.0)),
    "humaneval": (humaneval, CodeTestsGrader(entry_point="entry_point", timeout_s=20.0)),
    "mbpp": (mbpp, CodeTestsGrader(setup="setup", entry_point="entry_point", timeout_s=60.0)),
}


def grades(name: str, folder: Path, jail: Jail, every: int = 1) -> Iterator[tuple[str, float, float]]:
    """Name of each case, the grade of its reference, and that of the changed one."""
    cases, grader = SETS[name]
    for index, (label, answer, item, bad_answer, bad_item) in enumerate(cases(folder)):
        if index % every == 0:
            good = grader.grade(_sample(answer), item, jail)
            yield label, good, grader.grade(_sample(bad_answer), bad_item, jail)


def main() -> None:
    """Grade, print, and fail where a reference does not score as it must."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("sets", nargs="*", default=list(SETS))
    parser.add_argument("--every", type=int, default=1, help="grade only every Nth row")
    options = parser.parse_args()
    jail, failures = JailPool(), 0
    for name in options.sets:
        right = wrong = total = 0
        started = time.perf_counter()
        for label, good, bad in grades(name, options.folder, jail, options.every):
            total, right, wrong = total + 1, right + (good == 1.0), wrong + (bad == 0.0)
            if good != 1.0 or bad != 0.0:
                print(f"  {label}: reference {good}, changed {bad}", flush=True)
        failures += 2 * total - right - wrong
        seconds = time.perf_counter() - started
        counts = f"{right}/{total} references score 1, {wrong}/{total} changed ones 0"
        print(f"{name}: {counts}, in {seconds:.1f} s", flush=True)
    jail.close()
    sys.exit(1 if failures else 0)


def _sample(text: str) -> Sample:
    return Sample(output_text=text, thinking_text=None, answer_text=text, completion_tokens=0)


if __name__ == "__main__":
    main()
