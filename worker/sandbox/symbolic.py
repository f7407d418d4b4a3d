"""Equality of two answers that requires calculation, as a job in the jail.

Trees are compared by their values. LaTeX that the product's own grammar does not read is compared by math-verify and
SymPy, whose parsers may evaluate it.
"""

import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any

_AGAIN_S = 0.2
"""Processor time after which a comparison that swallowed its timeout is interrupted again."""


class _Late(BaseException):
    """A comparison has used up its processor time. Not an ``Exception``, so that libraries do not catch it."""


def verdict(job: Mapping[str, Any], tell: Callable[[bool], None]) -> dict[str, Any]:
    """``{"equal": bool}``, or ``{"unfinished": why}`` if the gold answer cannot be computed with these means in time.

    If they suffice for the gold answer but not for the given one, the two are not equal.

    Args:
        job: ``trees``, two of ``mathematics.tree.to_json`` and ``units_required``, or ``latex``, two texts; ``cpu_s``.
        tell: called before the comparison with whether the gold answer is mathematics.
    """
    found = _finished(job["cpu_s"], lambda: _latex(job, tell) if "latex" in job else _trees(job, tell))
    if "unfinished" not in found:
        return found
    alone = _finished(job["cpu_s"], lambda: _gold_alone(job))
    return alone if "unfinished" in alone else {"equal": False}


def _finished(seconds: float, compare_them: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    try:
        with _limited(seconds):
            return compare_them()
    except _Late:
        return {"unfinished": f"it took more than {seconds:g} s of processor time"}
    except MemoryError:
        return {"unfinished": "it took more memory than it may have"}
    except RecursionError:
        return {"unfinished": "it is nested too deeply"}


def _gold_alone(job: Mapping[str, Any]) -> dict[str, Any]:
    """Calculate with the gold answer alone, without anything from the given answer."""
    from trainer_core.rewards.mathematics.algebra import equality
    from trainer_core.rewards.mathematics.comparing import PLAIN_ANSWER
    from trainer_core.rewards.mathematics.tree import from_json, is_scalar, walk

    if "latex" in job:
        return {"equal": compare(job["latex"][0], PLAIN_ANSWER)}
    gold = from_json(job["trees"][0])
    try:
        for part in [gold, *(part for part in walk(gold) if not is_scalar(part))]:
            for one in (part, *part.parts):
                if is_scalar(one) or (one.head == "relation" and all(map(is_scalar, one.parts))):
                    equality.check(one)
    except equality.UndecidedError as error:
        return {"unfinished": str(error)}
    return {"equal": False}


def _latex(job: Mapping[str, Any], tell: Callable[[bool], None]) -> dict[str, Any]:
    gold, answer = job["latex"]
    return {"equal": compare(gold, answer, tell)}


def _trees(job: Mapping[str, Any], tell: Callable[[bool], None]) -> dict[str, Any]:
    from trainer_core.rewards.mathematics.algebra import equality
    from trainer_core.rewards.mathematics.comparing import same
    from trainer_core.rewards.mathematics.tree import UnreadableError, from_json

    tell(True)
    gold, answer = map(from_json, job["trees"])
    try:
        return {"equal": same(gold, answer, equality.equal, job["units_required"])}
    except equality.UndecidedError as error:
        return {"unfinished": str(error)}
    except UnreadableError:  # such as a difference of things that cannot be subtracted
        return {"equal": False}


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise _Late

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, _AGAIN_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)


def compare(gold: str, answer: str, tell: Callable[[bool], None] = lambda understood: None) -> bool:
    """Whether math-verify understands both and considers them equal.

    ``tell`` is called before the answer is read, with whether the gold answer was understood.
    """
    from math_verify import parse, verify  # type: ignore[import-untyped]

    # Text that is not a formula is returned unchanged.
    parsed = _parse(parse, gold)
    tell(any(not isinstance(form, str) for form in parsed))
    given = _parse(parse, answer)
    return bool(parsed) and bool(given) and bool(verify(parsed, given, timeout_seconds=None))


def _parse(parse: Any, text: str) -> list[Any]:
    from math_verify import LatexExtractionConfig

    found: list[Any] = parse(f"${text}$", [LatexExtractionConfig()], parsing_timeout=None)
    return found
