"""The jail as graders see it: a slot for solutions, one for tests and one for SymPy, each started at its first use."""

import json
import os
import shutil
import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any, TypeVar

from trainer_core.rewards.graders.jail import BusyError, JailError, Limits, Outcome, Program, Verdict
from trainer_core.rewards.graders.languages import LANGUAGES
from worker.sandbox import builds
from worker.sandbox.job_run import supervise
from worker.sandbox.slot import STANDARD_MODULES, Loaded, Slot

TRIES = 2
_MATH = Loaded(
    preload=(
        *STANDARD_MODULES,
        "math_verify",
        "sympy.parsing.latex",
        "sympy.physics.units.util",
        "trainer_core.rewards.mathematics.algebra.equality",
        "trainer_core.rewards.mathematics.comparing",
    ),
    packages=True,
)
_RUNNERS = ("asyncio", "unittest", "unittest.mock", *(["pytest"] if find_spec("pytest") else []))
"""Modules that run tests, loaded once: each takes longer to load than most tests to run."""
_TESTS = Loaded(
    preload=(*STANDARD_MODULES, *_RUNNERS),
    libraries=("numpy", "pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments", "py"),
)
T = TypeVar("T")


@dataclass(slots=True)
class Paths:
    """Numbers of modules of unittest and pytest that were decided on each path."""

    fast: int = 0
    slow: int = 0
    """Modules that pytest itself decided."""


class JailPool:
    """One job at a time; a worker process has one pool. Not thread-safe."""

    def __init__(self) -> None:
        self._slots: dict[str, Slot] = {}
        self.paths = Paths()

    def program(self, code: str, stdin: str, language: str, limits: Limits) -> Outcome:
        """Build a program and run it once."""
        built = self.build(code, language, limits)
        if built.failure is not None:
            return Outcome("exit", 1, b"", built.failure.encode(), b"", 0.0)
        return self.run(built, stdin, (), limits)

    def build(self, code: str, language: str, limits: Limits) -> Program:
        """Implements ``trainer_core.rewards.graders.jail.Jail``."""
        known = LANGUAGES[language]
        program = Program(language, code, limits.memory_mb)
        if known.run:
            _installed(known.run[0])
        if not known.build:
            return program
        outcome = self._one("solution", builds.job(program, _installed), builds.limits(program))
        return builds.program_of(program, outcome)

    def run(self, program: Program, stdin: str, arguments: Sequence[str], limits: Limits) -> Outcome:
        """Implements ``trainer_core.rewards.graders.jail.Jail``."""
        if program.language == "python":
            python = {"role": "program", "code": program.code, "stdin": stdin, "args": list(arguments)}
            return self._one("solution", python, limits)
        known = LANGUAGES[program.language]
        words = known.command(known.run, program.code, limits.memory_mb)
        job: dict[str, Any] = {
            "role": "execute",
            "argv": [_installed(words[0]), *words[1:], *arguments],
            "files": {} if known.build else {known.file(program.code): program.code},
            "built": dict(program.files),
            "stdin": stdin,
        }
        more = replace(limits, processes=max(limits.processes, known.processes), address_space=not known.reserves)
        return self._one("solution", job, more)

    def check(self, source: str, given: str, output: str, wanted: str | None, limits: Limits) -> Outcome:
        """Implements ``trainer_core.rewards.graders.jail.Jail``."""
        job = {"role": "check", "code": source, "given": given, "output": output, "wanted": wanted}
        return self._one("tests", job, limits)

    def grade(self, code: str, sample: Mapping[str, Any], item: Mapping[str, Any], limits: Limits) -> Outcome:
        """Implements ``trainer_core.rewards.graders.jail.Jail``."""
        return self._one("solution", {"role": "grade", "code": code, "sample": sample, "item": item}, limits)

    def respond(
        self, code: str, item: Mapping[str, Any], messages: Sequence[Mapping[str, str]], limits: Limits
    ) -> Outcome:
        """Implements ``trainer_core.rewards.graders.jail.Jail``."""
        return self._one("solution", {"role": "respond", "code": code, "item": item, "messages": messages}, limits)

    def plugin(self, job: Mapping[str, Any], packages: bool, limits: Limits) -> Outcome:
        """Implements ``trainer_core.rewards.graders.jail.Jail``."""
        return self._one("math" if packages else "solution", {"role": "plugin", **job}, limits)

    def equal(self, comparison: Mapping[str, Any], limits: Limits) -> Outcome:
        """Implements ``trainer_core.rewards.graders.jail.Jail``."""
        return self._one("math", {"role": "math", **comparison}, limits)

    def assertions(
        self,
        code: str,
        setup: str,
        tests: Sequence[str],
        entry_point: str,
        limits: Limits,
        frameworks: Sequence[str] = (),
    ) -> list[Verdict]:
        """Implements ``trainer_core.rewards.graders.jail.Jail``."""
        cases = self.cases(code, setup, tests, entry_point, limits, frameworks)
        return [verdict for verdicts in cases for verdict in verdicts]

    def cases(
        self,
        code: str,
        setup: str,
        tests: Sequence[str],
        entry_point: str,
        limits: Limits,
        frameworks: Sequence[str] = (),
    ) -> list[list[Verdict]]:
        """Verdicts as ``assertions`` returns them, for each test those on its cases."""
        judge = {
            "role": "assertions",
            "setup": setup,
            "tests": list(tests),
            "entry_point": entry_point,
            "frameworks": list(frameworks) or ["asserts"] * len(tests),
        }
        candidate = {"role": "candidate", "code": code, "given": "class " in setup}
        outcome = self._retried(lambda: self._pair(judge, candidate, limits))
        try:
            found = [json.loads(line) for line in outcome.result.splitlines()]
        except ValueError as error:
            raise JailError(f"the tests gave no verdict: {error}") from error
        told = [one for one in found if isinstance(one, list) and len(one) >= 2]
        self._count(told)
        verdicts: list[list[Verdict]] = [[] for _ in tests]
        for index, verdict, *_ in told:
            verdicts[index].append(verdict if isinstance(verdict, str) else verdict is True)
        wanted = {index for index in range(len(tests)) if judge["frameworks"][index] != "conftest"}
        missing = {index for index in wanted if not verdicts[index]}
        if outcome.ok and missing:
            raise JailError(f"{len(missing)} of {len(tests)} tests gave no verdict")
        if not outcome.ok:  # tests that were not reached in time have not passed
            missing.add(max((index for index, *_ in told), default=0))
        for index in missing:
            verdicts[index].append(False)
        return verdicts

    def _count(self, found: Sequence[Sequence[Any]]) -> None:
        """Count on which path each module of tests was decided."""
        path_of = {one[0]: one[2] for one in found if len(one) == 3}
        self.paths.fast += sum(path == "fast" for path in path_of.values())
        self.paths.slow += sum(path == "slow" for path in path_of.values())

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
            self._slots[name] = Slot(_MATH if name == "math" else _TESTS if name == "tests" else Loaded())
        return self._slots[name]

    def _one(self, name: str, job: Mapping[str, Any], limits: Limits) -> Outcome:
        return self._retried(lambda: supervise([self._slot(name).begin(job, limits)])[0])

    def _pair(self, judge: Mapping[str, Any], candidate: Mapping[str, Any], limits: Limits) -> Outcome:
        ours, theirs = socket.socketpair()
        with ours, theirs:
            limits = replace(limits, output_ends=False)  # their printed output is not read
            slower = limits if limits.cpu_s is None else replace(limits, cpu_s=2 * limits.cpu_s + 10.0)
            first = self._slot("tests").begin(judge, slower, ours)
            try:
                second = self._slot("solution").begin(candidate, limits, theirs)
            except BaseException:
                first.abandon()
                raise
            return supervise([first, second])[0]

    def _retried(self, attempt: Callable[[], T]) -> T:
        """Retry once in a fresh zygote if the jail fails: the failure says nothing about the program."""
        for left in reversed(range(TRIES)):
            try:
                return attempt()
            except BusyError:
                raise
            except JailError:
                if not left:
                    raise
        raise AssertionError("TRIES is positive")


def _installed(program: str) -> str:
    if program.startswith("./"):
        return program
    found = shutil.which(program, path="/usr/bin:/bin")
    if found is None:
        raise JailError(f"{program} is not installed on this machine")
    path = os.path.realpath(found)
    return path if path.startswith("/usr/") else found
