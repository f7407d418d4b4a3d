"""The work of a confined job, by its ``role``."""

import base64
import builtins
import glob
import json
import linecache
import os
import sys
import types
from typing import Any

from worker.sandbox import plugins, symbolic
from worker.sandbox.calls import assertions, candidate

_RESULT = 101
PROGRAM = "solution.py"
"""File name under which a program sees itself."""
_LOOKS = ("__file__", "argv", "multiprocessing", "runpy", PROGRAM)
"""Words that occur in programs that may look for their own file."""


def play(job: dict[str, Any]) -> int:
    """Do the job's work. Returns the exit status."""
    match job["role"]:
        case "program":
            return _program(job["code"])
        case "execute":
            os.close(_RESULT)
            _place(job["built"])
            os.execv(job["argv"][0], job["argv"])  # nosec B606
        case "build":
            return _build(job["argv"], job["artefacts"])
        case "check":
            return _answer(_check(job))
        case "candidate":
            return candidate.serve(job["code"], job["given"])
        case "assertions":
            assertions.judge(job["setup"], job["tests"], job["frameworks"], job["entry_point"], _tell)
            return 0
        case "grade":
            return _answer(_grade(job))
        case "respond":
            return _answer(_respond(job))
        case "plugin":
            return _answer(plugins.values(job))
        case "math":
            return _answer(symbolic.verdict(job, lambda understood: _tell({"gold": understood})))
    raise ValueError(f"no role {job['role']!r}")


def _program(code: str) -> int:
    os.close(_RESULT)
    exec(compile(code, PROGRAM, "exec"), program_module(code).__dict__)  # nosec B102
    return 0


def program_module(code: str, name: str = "__main__") -> types.ModuleType:
    """The module of a program that sees itself as ``python3 solution.py``. Its file exists if it may look for it."""
    module = fresh_module(name)
    sys.modules["__main__"] = module
    module.__dict__["__file__"] = PROGRAM
    linecache.cache[PROGRAM] = (len(code), None, code.splitlines(keepends=True), PROGRAM)
    if any(word in code for word in _LOOKS):
        with open(PROGRAM, "w") as file:
            file.write(code)
    return module


def _place(files: dict[str, str]) -> None:
    """Write the files of a build."""
    for name, data in files.items():
        with open(name, "wb") as file:
            file.write(base64.b64decode(data))
        os.chmod(name, 0o700)


def _build(argv: list[str], artefacts: list[str]) -> int:
    """Run a compiler and answer with the files that it produces, in base64."""
    status = os.waitstatus_to_exitcode(os.waitpid(os.posix_spawn(argv[0], argv, os.environ), 0)[1])
    if status:
        return 1
    found = {}
    for pattern in artefacts:
        for name in glob.glob(pattern):
            with open(name, "rb") as file:
                found[name] = base64.b64encode(file.read()).decode()
    _tell(found)
    return 0


def _check(job: dict[str, Any]) -> float:
    """Compare an output with the row's own checker."""
    module = fresh_module("checker")
    exec(compile(job["code"], "<checker>", "exec"), module.__dict__)  # nosec B102
    return float(module.__dict__["check"](job["given"], job["output"], job["wanted"]))


def _grade(job: dict[str, Any]) -> Any:
    """Run OpenAI's python grader: the source defines ``grade(sample, item)``."""
    module = fresh_module("grader")
    exec(compile(job["code"], "<grader>", "exec"), module.__dict__)  # nosec B102
    return float(module.__dict__["grade"](job["sample"], job["item"]))


def _respond(job: dict[str, Any]) -> Any:
    """Call an environment: the source defines ``respond(item, messages)``."""
    module = fresh_module("environment")
    exec(compile(job["code"], "<environment>", "exec"), module.__dict__)  # nosec B102
    return module.__dict__["respond"](job["item"], job["messages"])


def fresh_module(name: str = "__main__") -> types.ModuleType:
    """An empty module to run a program in."""
    module = types.ModuleType(name)
    module.__dict__["__builtins__"] = builtins
    sys.modules[name] = module
    return module


def _tell(value: Any) -> None:
    data = memoryview(json.dumps(value).encode() + b"\n")
    while data:
        data = data[os.write(_RESULT, data) :]


def _answer(value: Any) -> int:
    _tell(value)
    return 0
