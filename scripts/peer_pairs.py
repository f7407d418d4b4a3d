"""Grades labelled pairs with other projects' graders: run by the Python of a throwaway environment that has them.

Reads JSON lines of ``gold``, ``answer`` and ``text`` from the standard input; writes one JSON object of verdicts by
grader. ``scripts/grade_pairs.py`` starts it. It imports nothing of the product.
"""

import json
import logging
import signal
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

SECONDS = 5
Verdict = Callable[[dict[str, str]], bool]


def math_verify() -> dict[str, Verdict]:
    """math-verify as its page shows it, and with options that are stricter."""
    from math_verify import LatexExtractionConfig, parse, verify  # type: ignore[import-untyped]

    def default(pair: dict[str, str]) -> bool:
        gold = parse(rf"${pair['gold']}$", parsing_timeout=None)
        return bool(verify(gold, parse(pair["text"], parsing_timeout=None), timeout_seconds=None))

    def strict(pair: dict[str, str]) -> bool:
        config = [LatexExtractionConfig(boxed_match_priority=0)]
        gold = parse(rf"\boxed{{{pair['gold']}}}", config, fallback_mode="no_fallback", parsing_timeout=None)
        answer = parse(pair["text"], config, fallback_mode="no_fallback", parsing_timeout=None)
        options = {"strict": True, "float_rounding": 10, "allow_set_relation_comp": False}
        return bool(verify(gold, answer, timeout_seconds=None, **options))

    name = f"math-verify {version('math-verify')}"
    return {name: default, f"{name}, boxed, strict, 10 digits": strict}


def mathruler() -> dict[str, Verdict]:
    """mathruler: the checks of PRM800K."""
    from mathruler.grader import extract_boxed_content, grade_answer  # type: ignore[import-not-found]

    def boxed(pair: dict[str, str]) -> bool:
        return bool(grade_answer(extract_boxed_content(pair["text"]), pair["gold"]))

    return {f"mathruler {version('mathruler')}": boxed}


def latex2sympy() -> dict[str, Verdict]:
    """latex2sympy2_extended and SymPy's own test of equality."""
    from latex2sympy2_extended import latex2sympy as read  # type: ignore[import-untyped]
    from sympy import simplify  # type: ignore[import-untyped]

    def equal(pair: dict[str, str]) -> bool:
        gold, answer = read(pair["gold"]), read(pair["answer"])
        return bool(gold == answer) or bool(simplify(gold - answer) == 0)

    return {f"latex2sympy2_extended {version('latex2sympy2_extended')}": equal}


def main() -> None:
    """Grade what comes, with each grader that is installed."""
    logging.disable(logging.WARNING)  # math-verify warns at each pair that it has no limit of its own
    pairs = [json.loads(line) for line in sys.stdin]
    signal.signal(signal.SIGALRM, _late)
    found: dict[str, list[bool | None]] = {}
    for load in (math_verify, mathruler, latex2sympy):
        try:
            graders = load()
        except (ImportError, PackageNotFoundError) as error:
            print(f"{load.__name__}: {error}", file=sys.stderr)
            continue
        for name, grader in graders.items():
            found[name] = [_graded(grader, pair) for pair in pairs]
    json.dump(found, sys.stdout)


def _graded(grader: Verdict, pair: dict[str, Any]) -> bool | None:
    """The verdict, of any gold answer that is accepted; None where there is none in time, or an error."""
    signal.alarm(SECONDS)
    golds = pair["gold"] if isinstance(pair["gold"], list) else [pair["gold"]]
    try:
        return any(grader({**pair, "gold": gold}) for gold in golds)
    except Exception:
        return None
    finally:
        signal.alarm(0)


def _late(number: int, frame: Any) -> None:
    raise TimeoutError


if __name__ == "__main__":
    main()
