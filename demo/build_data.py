"""Make the demo's datasets from GSM8K's training file: ``python -m demo.build_data path/to/train.jsonl``.

GSM8K writes every calculation of its solutions as ``<<48/2=24>>``. Each distinct one with a single operation on whole
numbers becomes a row ``{"prompt": "48/2=", "answer": "24", "source": "div"}``. Which rows are held out for evaluation
is decided by a hash of the problem (``ArithmeticProblem.is_held_out``), the same one that the warm-up of the starter
policy obeys. Some rows are written once more with completions in the starter policy's own form, for supervised and
preference training.
"""

import argparse
import json
import random
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from trainer_core.starter.problems import OPERATIONS, ArithmeticProblem, Operation, has_scratchpad
from trainer_core.starter.scratchpad import response, scratchpad
from trainer_core.starter.tokenizer import EOS

DATA = Path(__file__).parent / "data"
LONGEST_OPERAND = 4
"""Digits. Of the sums and differences, 95 % have operands this short; the rest would only teach counting digits."""
QUESTIONS = 400
"""GSM8K's own questions kept for the text-level run."""
WORKED, WORKED_HELD_OUT = 2000, 256
"""Rows of each training and each held-out dataset with completions."""
SLIPS = (-10, -2, -1, 1, 2, 10)
"""Differences of wrong results from the right one: digits that were not carried, or miscounted."""
SHUFFLE_SEED = 20
_ANNOTATION = re.compile(r"<<([^=<>]+)=([^<>]+)>>")
_CALCULATION = re.compile(r"(\d+)([-+*/])(\d+)")
_SOURCES: dict[Operation, str] = {"+": "add_sub", "-": "add_sub", "*": "mul", "/": "div"}

Row = dict[str, str]


def main() -> None:
    """Write one JSONL file per dataset into ``demo/data``."""
    parser = argparse.ArgumentParser(description="Make the demo's datasets from GSM8K's training file.")
    parser.add_argument("gsm8k", type=Path, help="GSM8K's train.jsonl")
    parser.add_argument("--out", type=Path, default=DATA, help="folder to write to (default: demo/data)")
    arguments = parser.parse_args()
    if not arguments.gsm8k.is_file():
        sys.exit(f"error: {arguments.gsm8k} is not a file; give the path of GSM8K's train.jsonl")
    with arguments.gsm8k.open(encoding="utf-8") as lines:
        examples = [json.loads(line) for line in lines]
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name, rows in build(examples).items():
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (arguments.out / f"{name}.jsonl").write_text(text, encoding="utf-8")
        print(f"{name}.jsonl: {len(rows)} rows, {len(text.encode()) / 1000:.0f} kB")


def build(examples: list[Row]) -> dict[str, list[Row]]:
    """The rows of every dataset, shuffled once with a fixed seed, by dataset name.

    Args:
        examples: GSM8K's rows, each with ``question`` and ``answer``.
    """
    datasets: dict[str, list[Row]] = {
        f"gsm8k-{name}": [] for name in ("add-sub", "mul", "div", "eval", "eval-mul", "eval-div")
    }
    for problem in sorted(set(problems(examples)), key=lambda p: (p.operation, p.left, p.right)):
        source = _SOURCES[problem.operation]
        row = {"prompt": problem.prompt, "answer": str(problem.answer), "source": source}
        if problem.is_held_out:
            datasets["gsm8k-eval" if source == "add_sub" else f"gsm8k-eval-{source}"].append(row)
        else:
            datasets[f"gsm8k-{source.replace('_', '-')}"].append(row)
    datasets["gsm8k-questions"] = list(questions(examples[:QUESTIONS]))
    for rows in datasets.values():
        random.Random(SHUFFLE_SEED).shuffle(rows)
    return datasets | derived(datasets)


def derived(datasets: dict[str, list[Row]]) -> dict[str, list[Row]]:
    """The datasets with completions, from those with calculations. Training and held-out rows stay apart.

    Args:
        datasets: the calculations, by dataset name, in their final order.
    """
    found: dict[str, list[Row]] = {}
    for suffix, names, count in (
        ("", ("gsm8k-add-sub", "gsm8k-mul", "gsm8k-div"), WORKED),
        ("-eval", ("gsm8k-eval", "gsm8k-eval-mul", "gsm8k-eval-div"), WORKED_HELD_OUT),
    ):
        rows = [row for name in names for row in datasets[name]]
        random.Random(SHUFFLE_SEED).shuffle(rows)
        found[f"gsm8k-worked{suffix}"] = [worked(row) for row in rows[:count]]
        found[f"gsm8k-pairs{suffix}"] = [pair(row) for row in rows[count : 2 * count]]
    return found


def worked(row: Row) -> Row:
    """A calculation with its completion: the hand method between the thinking tags, then the result."""
    return {**row, "completion": _completion(row)}


def pair(row: Row) -> Row:
    """A calculation with a better completion, the worked one, and a worse one: a wrong result without any thinking."""
    rng, right = random.Random(row["prompt"]), int(row["answer"])
    wrong = rng.choice([right + slip for slip in SLIPS if right + slip >= 0])
    return {**row, "chosen": _completion(row), "rejected": str(wrong)}


def _completion(row: Row) -> str:
    expression = _CALCULATION.fullmatch(row["prompt"].removesuffix("="))
    assert expression is not None
    operation = next(known for known in OPERATIONS if known == expression[2])
    problem = ArithmeticProblem(int(expression[1]), operation, int(expression[3]))
    return response(problem, scratchpad(problem)).removesuffix(EOS)


def problems(examples: Iterable[Row]) -> Iterator[ArithmeticProblem]:
    """The calculations that the scratchpad covers, as often as they occur, with short operands and a right result."""
    for example in examples:
        for expression, result in _ANNOTATION.findall(example["answer"]):
            parts = _CALCULATION.fullmatch(expression)
            if parts is None or max(len(parts[1]), len(parts[3])) > LONGEST_OPERAND:
                continue
            operation = next(known for known in OPERATIONS if known == parts[2])
            try:
                problem = ArithmeticProblem(int(parts[1]), operation, int(parts[3]))
            except ValueError:  # a negative or fractional result: not in this task
                continue
            as_written = problem.prompt == f"{expression}=" and str(problem.answer) == result
            if as_written and has_scratchpad(problem):
                yield problem


def questions(examples: Iterable[Row]) -> Iterator[Row]:
    """GSM8K's own word problems with their final answers, for a run on plain text."""
    for example in examples:
        answer = example["answer"].rpartition("####")[2].strip().replace(",", "")
        yield {"prompt": example["question"], "answer": answer, "source": "questions"}


if __name__ == "__main__":
    main()
