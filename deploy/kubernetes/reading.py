"""Reads a values file; invalid values are reported in sentences that begin with the field's name."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from deploy.kubernetes.values import Values


class ValuesError(ValueError):
    """Invalid values; one line for each fault."""


def read_values(path: Path) -> Values:
    """The values of a YAML file.

    Raises:
        ValuesError: the file is not YAML or not a mapping, or a value is invalid.
    """
    try:
        document = yaml.safe_load(path.read_text())
    except yaml.YAMLError as error:
        raise ValuesError(f"{path}: this is not YAML: {error}") from error
    return parse_values(document)


def parse_values(document: object) -> Values:
    """The values of a document. Raises ValuesError with a line for each fault."""
    if not isinstance(document, dict):
        raise ValuesError("The values are one mapping of names to values; begin with a line such as url: https://…")
    try:
        return Values.model_validate(document)
    except ValidationError as error:
        raise ValuesError("\n".join(_sentences(error.errors()))) from error


def _sentences(errors: Iterable[ErrorDetails]) -> list[str]:
    found = [(_place(error["loc"]), _text(error)) for error in errors]
    return [f"{place}: {text}" if place else text for place, text in found]


def _place(path: tuple[int | str, ...]) -> str:
    """``clusters[0].workers[1].gpus``; names of union variants are not fields."""
    words = [part for part in path if part not in ("bundled", "external")]
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in words).lstrip(".")


def _text(error: ErrorDetails) -> str:
    given: Any = error["input"]
    limits: dict[str, Any] = error.get("ctx", {})
    match error["type"]:
        case "value_error":
            return f"{limits['error']}."
        case "missing":
            return "This value is missing; add it."
        case "extra_forbidden":
            return "There is no such value; check its name, or remove it."
        case "greater_than_equal":
            return f"{given} is too small; use {limits['ge']} or more."
        case "less_than_equal":
            return f"{given} is too large; use {limits['le']} or less."
        case "literal_error":
            return f"{given!r} is not one of {limits['expected']}; use one of these."
        case "union_tag_invalid":
            return f"kind: {limits['tag']!r} is not one of {limits['expected_tags']}; use one of these."
        case "union_tag_not_found":
            return "kind: This value is missing; use 'bundled' or 'external'."
        case _:
            return f"{error['msg']} (given: {given!r}); correct it."
