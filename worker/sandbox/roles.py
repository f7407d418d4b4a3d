"""Work of a job once it is confined, by its ``role``."""

import builtins
import json
import os
import sys
import types
from typing import Any

from worker.sandbox import assertions, candidate, plugins, symbolic

_RESULT = 101


def play(job: dict[str, Any]) -> int:
    """The exit status."""
    match job["role"]:
        case "program":
            return _program(job["code"])
        case "execute":
            os.close(_RESULT)
            os.execv(job["argv"][0], job["argv"])  # nosec B606
        case "candidate":
            return candidate.serve(job["code"])
        case "assertions":
            return _answer(assertions.judge(job["setup"], job["tests"], job["entry_point"]))
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
    exec(compile(code, "<solution>", "exec"), fresh_module().__dict__)  # nosec B102
    return 0


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
