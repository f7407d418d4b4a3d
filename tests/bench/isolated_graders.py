"""What it costs to grade in a process that can be ended: ``python tests/bench/isolated_graders.py``."""

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.report import Figure, show
from tests.support.hostile_inputs import ANY
from trainer_core.rewards.errors import GraderStopped
from trainer_core.rewards.isolated.process import GradeLimits, GradingProcess, TemplateProcess
from trainer_core.rewards.sample import Sample

ROUNDS = 2000
TEXT = "The answer is <answer>24</answer>. " * 60
SAMPLE = Sample(TEXT, None, TEXT, 500)
ROW = {"prompt": "What is half of 48?", "answer": "24"}
LIMITS = GradeLimits()
ENDS = 10


def main() -> None:
    """Compare each grade with the direct call; both stand in one table."""
    started = time.perf_counter()
    template = TemplateProcess()
    template.start()
    figures = [Figure("template loads the graders", time.perf_counter() - started, "s")]
    process = GradingProcess(template)
    for kind in ("exact", "numeric", "language"):
        grader = ANY.validate_python({"type": kind})
        grader.load()
        direct = _median(lambda grader=grader: grader.grade(SAMPLE, ROW))
        isolated = _median(lambda grader=grader: process.grade(grader, SAMPLE, ROW, LIMITS))
        figures.append(Figure(f"{kind}, median over the direct call", 1000 * (isolated - direct), "ms", "< 50"))
    slow = ANY.validate_python({"type": "regex", "pattern": "(a+)+$"})
    text = "a" * 15_000 + "!"
    hostile = Sample(text, None, text, None)
    overdue = []
    for _ in range(ENDS):
        began = time.perf_counter()
        try:
            process.grade(slow, hostile, ROW, GradeLimits(cpu_s=0.05))
        except GraderStopped:
            overdue.append(time.perf_counter() - began - 0.05)
    figures.append(Figure("from the end of the time to the error, median", 1000 * statistics.median(overdue), "ms"))
    began = time.perf_counter()
    process.start()
    figures.append(
        Figure("a new process in the place of one that was ended", 1000 * (time.perf_counter() - began), "ms")
    )
    process.close()
    template.close()
    show("Graders in a process of their own", figures)


def _median(work: Callable[[], object]) -> float:
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


if __name__ == "__main__":
    main()
