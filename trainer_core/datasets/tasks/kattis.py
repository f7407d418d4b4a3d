"""Problems in the Kattis format (github.com/Kattis/problem-package-format): programs that read and write."""

import math
import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from trainer_core.datasets.fields import asked
from trainer_core.datasets.shape import Row
from trainer_core.datasets.tasks.format import TaskFormat, UnusableTaskError, about_in, text_in
from trainer_core.datasets.tasks.plain_yaml import read_yaml
from trainer_core.datasets.tasks.statement import plain_text

_STATEMENT = re.compile(r"(?:problem_statement|statement)/problem(?:\.([a-z-]+))?\.(html|md|tex)")
_ASK = "Write a program that reads the input from standard input and writes the output to standard output."
_LARGEST = 1e6
_TOLERANCE = re.compile(r"float_(?:absolute_|relative_)?tolerance\s+(\S+)")


def _reads(name: str) -> bool:
    return name == "problem.yaml" or bool(_STATEMENT.fullmatch(name)) or bool(re.fullmatch(r"data/.*\.(in|ans)", name))


def _row(folder: str, files: Mapping[str, bytes]) -> Row:
    about = _about(files)
    statement = _statement(files)
    samples, secret = _cases(files, "data/sample/"), _cases(files, "data/secret/")
    if not samples and not secret:
        raise UnusableTaskError(f"The problem {folder} has no tests: `data` has no input with its answer.")
    row: Row = {
        "messages": asked(_question(statement, samples)),
        "tests": samples + secret,
        "id": folder,
        "name": _name(about, folder),
        "problem_format": "kattis",
    }
    limits = about.get("limits")
    if isinstance(limits, dict) and (limit := limits.get("time_limit", limits.get("time"))) not in (None, ""):
        row["time_limit_s"] = _number(limit, "time limit", least=1e-3)
    flags = " ".join(text for key in ("validator_flags", "output_validator_flags") for text in _texts(about.get(key)))
    if tolerance := _TOLERANCE.search(flags):
        row["float_tolerance"] = _number(tolerance[1], "float tolerance", least=0.0)
    for key in ("source", "license", "validation"):
        if isinstance(about.get(key), str) and about[key]:
            row[key] = about[key]
    return row


def _number(value: Any, what: str, *, least: float) -> int | float:
    """A number from the YAML file. Raises ValueError."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not least <= number <= _LARGEST:
        raise ValueError(f"its {what} must be a number from {least:g} to {_LARGEST:g}, not {str(value)[:60]!r}.")
    return int(number) if number.is_integer() else number


def _texts(value: Any) -> list[str]:
    """A text, or the texts of a list."""
    return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str)]


def _about(files: Mapping[str, bytes]) -> dict[str, Any]:
    found = about_in(files, "problem.yaml", read_yaml, "YAML")
    if found is not None and not isinstance(found, dict):
        raise ValueError("its problem.yaml must contain names and values.")
    return found or {}


def _name(about: Mapping[str, Any], folder: str) -> str:
    name = about.get("name")
    if isinstance(name, dict):
        name = name.get("en") or next(iter(name.values()), None)
    return name if isinstance(name, str) and name.strip() else PurePosixPath(folder).name


def _statement(files: Mapping[str, bytes]) -> str:
    """The statement in English, otherwise in any available language; HTML as text."""
    found = {(match[1] or "en", match[2]): name for name in files if (match := _STATEMENT.fullmatch(name))}
    for _, name in sorted(found.items(), key=lambda item: (item[0][0] != "en", item[0])):
        text = text_in(files, name)
        text = plain_text(text) if name.endswith(".html") else text
        if text.strip():
            return text.strip()
    raise UnusableTaskError("The problem has no statement: `problem_statement` has no problem.en.html, .md or .tex.")


def _cases(files: Mapping[str, bytes], below: str) -> list[dict[str, str]]:
    names = sorted(name for name in files if name.startswith(below) and name.endswith(".in"))
    return [
        {"input": text_in(files, name), "output": text_in(files, answer)}
        for name in names
        if (answer := name.removesuffix(".in") + ".ans") in files
    ]


def _question(statement: str, samples: list[dict[str, str]]) -> str:
    parts = [statement]
    if "sample input" not in statement.lower():  # statements in TeX leave samples to the files
        for number, case in enumerate(samples, 1):
            given, wanted = case["input"].rstrip(), case["output"].rstrip()
            parts.append(f"Sample input {number}:\n{given}\n\nSample output {number}:\n{wanted}")
    return "\n\n".join([*parts, _ASK])


KATTIS = TaskFormat(name="kattis", marker="problem.yaml", reads=_reads, row=_row)
