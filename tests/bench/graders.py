"""Mathematical answers a second: ``python tests/bench/graders.py [MATH-500 file]``; without one, on made-up answers."""

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.report import Figure, show
from trainer_core.rewards.graders.math.math import MathGrader
from trainer_core.rewards.graders.math.math_gold import gold_answers
from trainer_core.rewards.mathematics.reading import forget
from trainer_core.rewards.sample import Sample
from worker.sandbox.pool import JailPool

ROUNDS = 10
MADE_UP = [form for number in range(1, 251) for form in (rf"\frac{{{number}}}{{{number + 3}}}", rf"{number}\sqrt{{2}}")]
WRITTEN_OTHERWISE = [
    pair
    for number in range(1001, 1501)
    for pair in (
        (f"{number}", f"{number:,}"),
        (rf"\frac{{{number}}}{{7}}", f"{number}/7"),
        (f"{number}.50", rf"\frac{{{2 * number + 1}}}{{2}}"),
        (f"({number}, 3)", rf"\left({number},3\right)"),
        (rf"{number}\text{{ cm}}", f"{number}"),
        (f"{number}", f"x = {number}"),
    )
]
"""Gold answers and plain answers that equal them, each read once."""


def main() -> None:
    """Measure in one process, what was read forgotten before each round."""
    golds = MADE_UP
    if sys.argv[1:]:
        golds = [json.loads(line)["answer"] for line in Path(sys.argv[1]).read_text().splitlines()]
    _measure("gold against gold", [(gold, gold) for gold in golds])
    _measure("plain answers written otherwise", WRITTEN_OTHERWISE)


def _measure(what: str, pairs: list[tuple[str, str]]) -> None:
    grader, jail, times, wrong = MathGrader(), JailPool(), [], 0
    for _ in range(ROUNDS):
        forget()
        gold_answers.cache_clear()
        for gold, answer in pairs:
            text = rf"So the answer is $\boxed{{{answer}}}$."
            sample = Sample(output_text=text, thinking_text=None, answer_text=text, completion_tokens=1)
            started = time.perf_counter()
            wrong += grader.grade(sample, {"answer": gold}, jail) != 1.0
            times.append(time.perf_counter() - started)
    jail.close()
    show(
        f"Mathematical answers, {what}, one process",
        [
            Figure("answers a second", len(times) / sum(times), "/s", "2,000"),
            Figure("slowest", max(times) * 1000, "ms", "under 2,000"),
            Figure("wrong", wrong, "", "0"),
        ],
    )


if __name__ == "__main__":
    main()
