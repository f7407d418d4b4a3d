"""The jail as graders see it: a slot for solutions, one for tests, one for SymPy; each started at its first use."""

import json
import os
import shutil
import socket
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from trainer_core.rewards.graders.jail import JailError, Language, Limits, Outcome, Verdict
from worker.sandbox.job_run import supervise
from worker.sandbox.slot import STANDARD_MODULES, Loaded, Slot

TRIES = 2
_MATH = Loaded(
    preload=(*STANDARD_MODULES, "math_verify", "sympy.parsing.latex", "sympy.physics.units.util"), packages=True
)
T = TypeVar("T")


class JailPool:
    """One job at a time; a worker process has one pool. Not thread-safe."""

    def __init__(self) -> None:
        self._slots: dict[str, Slot] = {}

    def program(self, code: str, stdin: str, language: Language, limits: Limits) -> Outcome:
        """Implements ``trainer_core.rewards.graders.jail.Jail``."""
        return self._one("solution", _program(code, stdin, language), limits)

    def grade(self, code: str, sample: Mapping[str, Any], item: Mapping[str, Any], limits: Limits) -> Outcome:
        """Implements ``trainer_core.rewards.graders.jail.Jail``."""
        return self._one("solution", {"role": "grade", "code": code, "sample": sample, "item": item}, limits)

    def plugin(self, job: Mapping[str, Any], packages: bool, limits: Limits) -> Outcome:
        """Implements ``trainer_core.rewards.graders.jail.Jail``."""
        return self._one("math" if packages else "solution", {"role": "plugin", **job}, limits)

    def equal(self, gold: str, answer: str, limits: Limits) -> Outcome:
        """Implements ``trainer_core.rewards.graders.jail.Jail``."""
        return self._one("math", {"role": "math", "gold": gold, "answer": answer}, limits)

    def assertions(
        self, code: str, setup: str, tests: Sequence[str], entry_point: str, limits: Limits
    ) -> list[Verdict]:
        """Implements ``trainer_core.rewards.graders.jail.Jail``."""
        judge = {"role": "assertions", "setup": setup, "tests": list(tests), "entry_point": entry_point}
        candidate = {"role": "candidate", "code": code, "given": "class " in setup}
        outcome = self._retried(lambda: self._pair(judge, candidate, limits))
        try:
            found = [json.loads(line) for line in outcome.result.splitlines()]
        except ValueError as error:
            raise JailError(f"the tests gave no verdict: {error}") from error
        if outcome.ok and len(found) != len(tests):
            raise JailError(f"{len(tests)} tests gave {len(found)} verdicts")
        # Tests that were not reached in time are not passed.
        return [one if isinstance(one, str) else one is True for one in found] + [False] * (len(tests) - len(found))

    def start(self, packages: bool) -> None:
        """Start the slots now, so that the first job does not wait; SymPy's with ``packages``. Raises JailError."""
        for name in ("solution", "tests", "math")[: 3 if packages else 2]:
            self._retried(self._slot(name).start)

    def close(self) -> None:
        """End the zygotes."""
        for slot in self._slots.values():
            slot.close()
        self._slots = {}

    def _slot(self, name: str) -> Slot:
        if name not in self._slots:
            self._slots[name] = Slot(_MATH if name == "math" else Loaded())
        return self._slots[name]

    def _one(self, name: str, job: Mapping[str, Any], limits: Limits) -> Outcome:
        return self._retried(lambda: supervise([self._slot(name).begin(job, limits)])[0])

    def _pair(self, judge: Mapping[str, Any], candidate: Mapping[str, Any], limits: Limits) -> Outcome:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            first = self._slot("tests").begin(judge, limits, ours)
            try:
                second = self._slot("solution").begin(candidate, limits, theirs)
            except BaseException:
                first.abandon()
                raise
            return supervise([first, second])[0]

    def _retried(self, attempt: Callable[[], T]) -> T:
        """A jail that fails is tried once more, in a fresh zygote: the failure says nothing about the program."""
        for left in reversed(range(TRIES)):
            try:
                return attempt()
            except JailError:
                if not left:
                    raise
        raise AssertionError("TRIES is positive")


def _program(code: str, stdin: str, language: Language) -> dict[str, Any]:
    if language == "python":
        return {"role": "program", "code": code, "stdin": stdin}
    shell = _installed("bash" if language == "bash" else "sh")
    if language == "bash":
        return {"role": "execute", "argv": [shell, "main.sh"], "files": {"main.sh": code}, "stdin": stdin}
    compiler = _installed("gcc")
    command = f"{compiler} -O1 -o main main.c -lm >&2 && exec ./main"
    return {"role": "execute", "argv": [shell, "-c", command], "files": {"main.c": code}, "stdin": stdin}


def _installed(program: str) -> str:
    found = shutil.which(program, path="/usr/bin:/bin")
    if found is None:
        raise JailError(f"{program} is not installed on this machine")
    path = os.path.realpath(found)
    return path if path.startswith("/usr/") else found
