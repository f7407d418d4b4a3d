"""Documents that the planner reads: a run spec, rates, prompts. Each error is one sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from trainer_core.datasets import recognise
from trainer_core.planning import PlanError, Rates
from trainer_core.spec import RunSpec


def read_spec(path: Path) -> RunSpec:
    """A run spec in YAML or JSON, alone or under ``spec`` as in a recipe."""
    document = _read(path)
    try:
        return RunSpec.model_validate(document.get("spec", document))
    except ValidationError as error:
        raise PlanError(f"{path} is not a valid run spec: {_first(error)}") from error


def read_rates(path: Path) -> Rates:
    """Rates in YAML or JSON, as ``--save-rates`` writes them."""
    try:
        return Rates.model_validate(_read(path))
    except ValidationError as error:
        raise PlanError(f"{path} has no valid rates: {_first(error)}") from error


def read_rows(path: Path, count: int) -> list[dict[str, Any]]:
    """The first ``count`` rows of a dataset in JSON lines, mapped like uploads. Repeats rows if there are fewer."""
    try:
        with path.open(encoding="utf-8") as lines:
            found = [json.loads(line) for line, _ in zip(lines, range(count), strict=False)]
    except (OSError, ValueError) as error:
        raise PlanError(f"The prompts in {path} cannot be read: {error}.") from error
    if not found or not all(isinstance(row, dict) for row in found):
        raise PlanError(f"{path} must contain one JSON object per line, with a prompt or messages.")
    try:
        rows = [recognise(row).convert(row) for row in found]
    except ValueError as error:
        raise PlanError(f"The prompts in {path} cannot be read: {error}") from error
    return [rows[index % len(rows)] for index in range(count)]


def _read(path: Path) -> dict[str, Any]:
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise PlanError(f"{path} cannot be read: {' '.join(str(error).split())}.") from error
    if not isinstance(document, dict):
        raise PlanError(f"{path} must contain a mapping.")
    return document


def _first(error: ValidationError) -> str:
    fault = error.errors(include_url=False)[0]
    return f"{'.'.join(str(part) for part in fault['loc']) or 'document'}: {fault['msg']}"
