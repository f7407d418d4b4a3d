"""Tests of programs, from the forms in files: Python code, or pairs of input and output."""

from contextlib import suppress
from typing import Any

from trainer_core.datasets.fields import json_type
from trainer_core.datasets.json_text import read_json
from trainer_core.datasets.mapping.path import article

_INPUTS, _OUTPUTS = ("inputs", "input"), ("outputs", "output")
Tests = list[str] | list[dict[str, str]]


def tests_of(value: Any, name: str) -> Tests:
    """The tests in a value, at least one.

    Raises:
        ValueError: it holds no tests that a grader can run, such as calls whose arguments are not text.
    """
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        with suppress(ValueError):  # Python that begins with a bracket
            value = read_json(value)
    if isinstance(value, str):
        value = [value]
    if isinstance(value, dict):
        value = _zipped(value, name)
    if not isinstance(value, list):
        raise ValueError(f"`{name}` is {article(json_type(value))} and contains no tests.")
    if not value:
        raise ValueError(f"`{name}` contains no test.")
    if all(isinstance(test, str) for test in value):
        if not all(test.strip() for test in value):
            raise ValueError(f"`{name}` contains an empty test.")
        return value
    return [_pair(test, place, name) for place, test in enumerate(value, 1)]


def _zipped(value: dict[str, Any], name: str) -> list[dict[str, Any]]:
    if value.get("fn_name"):
        raise ValueError(f"`{name}` has calls of a function with arguments, which a program cannot read as input.")
    inputs = next((value[key] for key in _INPUTS if isinstance(value.get(key), list)), None)
    outputs = next((value[key] for key in _OUTPUTS if isinstance(value.get(key), list)), None)
    if inputs is None or outputs is None:
        raise ValueError(f"`{name}` has no lists of inputs and outputs.")
    if len(inputs) != len(outputs):
        raise ValueError(f"`{name}` has {len(inputs)} inputs and {len(outputs)} outputs.")
    return [{"input": given, "output": wanted} for given, wanted in zip(inputs, outputs, strict=True)]


def _pair(test: Any, place: int, name: str) -> dict[str, str]:
    if not isinstance(test, dict) or "input" not in test or "output" not in test:
        raise ValueError(f"Test {place} of `{name}` must be text, or have `input` and `output`.")
    if str(test.get("testtype", "stdin")) != "stdin":
        raise ValueError(f"Test {place} of `{name}` calls a function, which a program cannot read as input.")
    if not isinstance(test["input"], str) or not isinstance(test["output"], str):
        raise ValueError(f"Test {place} of `{name}`: `input` and `output` must be strings.")
    return {"input": test["input"], "output": test["output"]}
