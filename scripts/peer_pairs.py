"""Grades labelled pairs with other projects' graders: run by the Python of a throwaway environment that has them.

Reads JSON lines of ``gold``, ``answer`` and ``text`` from the standard input; writes one JSON object of verdicts by
grader. ``scripts/grade_pairs.py`` starts it. It imports nothing of the product.
"""

import json
import logging
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

SECONDS = 5
"""Of processor time, so that a busy machine changes no verdict of theirs."""
MEMORY = 4 << 30
SIGNS = {b"1": True, b"0": False, b"-": None}
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
    signal.signal(signal.SIGPROF, _late)
    found: dict[str, list[bool | None]] = {}
    for load in (math_verify, mathruler, latex2sympy):
        try:
            graders = load()
        except (ImportError, PackageNotFoundError) as error:
            print(f"{load.__name__}: {error}", file=sys.stderr)
            continue
        for name, grader in graders.items():
            found[name] = graded(grader, pairs)
    json.dump(found, sys.stdout)


def graded(grader: Verdict, pairs: list[dict[str, Any]]) -> list[bool | None]:
    """Verdicts, in a process beside: the kernel ends it where a power of whole numbers hears no signal."""
    found: list[bool | None] = []
    while len(found) < len(pairs):
        found += _in_child(grader, pairs[len(found) :])
        if len(found) < len(pairs):
            found.append(None)
    return found


def _in_child(grader: Verdict, pairs: list[dict[str, Any]]) -> list[bool | None]:
    """Verdicts of a process of its own, until it ends or is ended."""
    signs = {verdict: sign for sign, verdict in SIGNS.items()}
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        for pair in pairs:
            limit = int(time.process_time()) + SECONDS + 2
            resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
            os.write(write, signs[_graded(grader, pair)])
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as answers:
        told = answers.read()
    os.waitpid(child, 0)
    return [SIGNS[told[place : place + 1]] for place in range(len(told))]


def _graded(grader: Verdict, pair: dict[str, Any]) -> bool | None:
    """The verdict, of any gold answer that is accepted; None where there is none in time, or an error."""
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    golds = pair["gold"] if isinstance(pair["gold"], list) else [pair["gold"]]
    try:
        return any(grader({**pair, "gold": gold}) for gold in golds)
    except Exception:
        return None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _late(number: int, frame: Any) -> None:
    raise TimeoutError


if __name__ == "__main__":
    main()
