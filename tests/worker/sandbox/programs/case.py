"""One row with two answers: one that is right and one that is not."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Pair:
    """A dataset row, an answer that earns everything and one that earns nothing."""

    name: str
    row: dict[str, Any]
    right: str
    wrong: str
    options: dict[str, Any] = field(default_factory=dict)
    """Fields of the grader."""


def script(name: str, tests: list[tuple[str, str]], right: str, wrong: str, **options: Any) -> Pair:
    """Programs that read and write text. ``tests`` are pairs of input and output."""
    rows = [{"input": given, "output": wanted} for given, wanted in tests]
    return Pair(name, {"tests": rows}, fenced(right), fenced(wrong), options)


def asserts(name: str, tests: list[str], right: str, wrong: str, setup: str = "", **options: Any) -> Pair:
    """Programs whose functions are called by tests."""
    row = {"tests": tests, "setup": setup}
    return Pair(name, row, fenced(right), fenced(wrong), {"setup": "setup", **options})


def fenced(code: str) -> str:
    """The program as a model answers."""
    return f"Here is the program.\n\n```python\n{code.strip()}\n```\n"
