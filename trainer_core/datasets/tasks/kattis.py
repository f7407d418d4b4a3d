"""Problems of the Kattis format (github.com/Kattis/problem-package-format): programs that read and write."""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

import yaml

from trainer_core.datasets.fields import asked
from trainer_core.datasets.shape import Row
from trainer_core.datasets.tasks.format import TaskFormat, UnusableTaskError, text_in
from trainer_core.datasets.tasks.statement import plain_text

_STATEMENT = re.compile(r"(?:problem_statement|statement)/problem(?:\.([a-z-]+))?\.(html|md|tex)")
_ASK = "Write a program that reads the input from standard input and writes the output to standard output."
_TOLERANCE = re.compile(r"float_(?:absolute_|relative_)?tolerance\s+(\S+)")


def _reads(name: str) -> bool:
    return name == "problem.yaml" or bool(_STATEMENT.fullmatch(name)) or bool(re.fullmatch(r"data/.*\.(in|ans)", name))


def _row(folder: str, files: Mapping[str, bytes]) -> Row:
    about = _about(files)
    statement = _statement(files)
    samples, secret = _cases(files, "data/sample/"), _cases(files, "data/secret/")
    if not samples and not secret:
        raise UnusableTaskError(f"The problem {folder} has no tests: `data` holds no input with its answer.")
    row: Row = {
        "messages": asked(_question(statement, samples)),
        "tests": samples + secret,
        "id": folder,
        "name": _name(about, folder),
        "problem_format": "kattis",
    }
    limits = about.get("limits")
    if isinstance(limits, dict) and isinstance(limits.get("time_limit", limits.get("time")), int | float):
        row["time_limit_s"] = limits.get("time_limit", limits.get("time"))
    flags = " ".join(str(about.get(key, "")) for key in ("validator_flags", "output_validator_flags"))
    if tolerance := _TOLERANCE.search(flags):
        row["float_tolerance"] = float(tolerance[1])
    for key in ("source", "license", "validation"):
        if isinstance(about.get(key), str):
            row[key] = about[key]
    return row


def _about(files: Mapping[str, bytes]) -> dict[str, Any]:
    try:
        found = yaml.safe_load(text_in(files, "problem.yaml"))
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError("its problem.yaml is no YAML.") from error
    if found is not None and not isinstance(found, dict):
        raise ValueError("its problem.yaml must hold names and values.")
    return found or {}


def _name(about: Mapping[str, Any], folder: str) -> str:
    name = about.get("name")
    if isinstance(name, dict):
        name = name.get("en") or next(iter(name.values()), None)
    return name if isinstance(name, str) and name.strip() else PurePosixPath(folder).name


def _statement(files: Mapping[str, bytes]) -> str:
    """The statement in English, else in the language that has one; HTML as text."""
    found = {(match[1] or "en", match[2]): name for name in files if (match := _STATEMENT.fullmatch(name))}
    for _, name in sorted(found.items(), key=lambda item: (item[0][0] != "en", item[0])):
        text = text_in(files, name)
        text = plain_text(text) if name.endswith(".html") else text
        if text.strip():
            return text.strip()
    raise UnusableTaskError("The problem has no statement: `problem_statement` holds no problem.en.html, .md or .tex.")


def _cases(files: Mapping[str, bytes], below: str) -> list[dict[str, str]]:
    names = sorted(name for name in files if name.startswith(below) and name.endswith(".in"))
    return [
        {"input": text_in(files, name), "output": text_in(files, answer)}
        for name in names
        if (answer := name.removesuffix(".in") + ".ans") in files
    ]


def _question(statement: str, samples: list[dict[str, str]]) -> str:
    parts = [statement]
    if "sample input" not in statement.lower():  # statements in TeX leave them to the files
        for number, case in enumerate(samples, 1):
            given, wanted = case["input"].rstrip(), case["output"].rstrip()
            parts.append(f"Sample input {number}:\n{given}\n\nSample output {number}:\n{wanted}")
    return "\n\n".join([*parts, _ASK])


KATTIS = TaskFormat(name="kattis", marker="problem.yaml", reads=_reads, row=_row)
