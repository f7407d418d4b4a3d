"""Work of a job once it is confined, by its ``role``."""

import builtins
import json
import linecache
import os
import sys
import types
from typing import Any

from worker.sandbox import assertions, candidate, plugins, symbolic

_RESULT = 101
PROGRAM = "solution.py"
"""Name by which a program knows itself."""
_LOOKS = ("__file__", "argv", "multiprocessing", "runpy", PROGRAM)
"""Words of programs that may look for their own file."""


def play(job: dict[str, Any]) -> int:
    """The exit status."""
    match job["role"]:
        case "program":
            return _program(job["code"])
        case "execute":
            os.close(_RESULT)
            os.execv(job["argv"][0], job["argv"])  # nosec B606
        case "candidate":
            return candidate.serve(job["code"], job["given"])
        case "assertions":
            assertions.judge(job["setup"], job["tests"], job["entry_point"], _tell)
            return 0
        case "grade":
            return _answer(_grade(job))
        case "plugin":
            return _answer(plugins.values(job))
        case "math":
            equal = symbolic.compare(job["gold"], job["answer"], lambda understood: _tell({"gold": understood}))
            return _answer({"equal": equal})
    raise ValueError(f"no role {job['role']!r}")


def _program(code: str) -> int:
    os.close(_RESULT)
    exec(compile(code, PROGRAM, "exec"), program_module(code).__dict__)  # nosec B102
    return 0


def program_module(code: str, name: str = "__main__") -> types.ModuleType:
    """The module of a program that sees itself as ``python3 solution.py``. Its file exists where it looks for it."""
    module = fresh_module(name)
    sys.modules["__main__"] = module
    module.__dict__["__file__"] = PROGRAM
    linecache.cache[PROGRAM] = (len(code), None, code.splitlines(keepends=True), PROGRAM)
    if any(word in code for word in _LOOKS):
        with open(PROGRAM, "w") as file:
            file.write(code)
    return module


def _grade(job: dict[str, Any]) -> Any:
    """OpenAI's python grader: the source defines ``grade(sample, item)``."""
    module = fresh_module("grader")
    exec(compile(job["code"], "<grader>", "exec"), module.__dict__)  # nosec B102
    return float(module.__dict__["grade"](job["sample"], job["item"]))


def fresh_module(name: str = "__main__") -> types.ModuleType:
    """An empty module to run a program in."""
    module = types.ModuleType(name)
    module.__dict__["__builtins__"] = builtins
    sys.modules[name] = module
    return module


def _tell(value: Any) -> None:
    os.write(_RESULT, json.dumps(value).encode() + b"\n")


def _answer(value: Any) -> int:
    _tell(value)
    return 0
