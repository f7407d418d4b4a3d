"""Cost of an operation that uses a model: requests, tokens and price, estimated before it is started."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from dressage.common.api.problems import invalid
from dressage.datasets.models import DatasetVersion
from dressage.datasets.selectors import missing_files
from dressage.datasets.versions import storage
from dressage.lab.arguments import MAX_ASKED_ROWS, AnyAsking, AssessQuality, FindMemorised, SynthesiseRows
from dressage.lab.asking.client import MOST_AT_ONCE
from dressage.lab.cost import LabCost
from dressage.lab.models import LabJob, LabState
from dressage.lab.synthesis.chosen import ChosenRows
from dressage.lab.texts import text_of
from dressage.rewards.models import JudgeEndpoint

_STARTUP_S = 2.0
_SECONDS_A_QUESTION = 3.0
"""Default until this installation has called the endpoint itself."""
_LOOKED_AT = 50
"""Number of rows at the start of the version whose lengths are used to estimate tokens."""
_SIGNS_A_TOKEN = 4
_INSTRUCTIONS = 250
"""Tokens of a request besides the row."""
_SOLUTION = 300
"""Tokens of a worked answer to a question."""
_LEAST_ROWS = 10
_BASE_BYTES = 200 << 20
_BYTES_A_ROW = 20_000


@dataclass(frozen=True, slots=True)
class _Questions:
    """Requests of one kind about a row."""

    endpoint: JudgeEndpoint
    number: int
    """Number of requests per row."""
    beside: float
    """Tokens of each request besides the row."""
    answer: float
    """Tokens of an answer."""


def cost_of_asking(
    version: DatasetVersion,
    operation: AnyAsking,
    endpoint: JudgeEndpoint,
    solver: JudgeEndpoint | None = None,
    chosen: ChosenRows | None = None,
) -> LabCost:
    """Estimate the cost of an operation.

    Args:
        version: the version with the rows.
        operation: the operation.
        endpoint: the model.
        solver: the model that answers what the other one writes, if it is a different one.
        chosen: the rows, if they are not chosen by a sample.

    Raises:
        Problem: 422 if it would ask about too many rows.
    """
    rows = len(chosen.numbers) if chosen is not None else _sampled(version, operation)
    row = tokens_of_rows(version, operation.columns)
    kinds = _questions(operation, endpoint, solver or endpoint, row)
    questions = rows * sum(one.number for one in kinds)
    prompt = {one: round(rows * one.number * (one.beside + row)) for one in kinds}
    completion = {one: round(rows * one.number * one.answer) for one in kinds}
    prices = [price_of_tokens(one.endpoint, prompt[one], completion[one]) for one in kinds]
    known = [price for price in prices if price is not None]
    speed = _speed(operation, endpoint)
    at_once = min(MOST_AT_ONCE, *(one.endpoint.max_in_flight for one in kinds))
    seconds = rows / speed if speed else questions * _SECONDS_A_QUESTION / at_once
    return {
        "rows": rows,
        "bytes": version.bytes,
        "seconds": round(_STARTUP_S + seconds, 1),
        "measured": speed is not None,
        "memory_bytes": _BASE_BYTES + rows * _BYTES_A_ROW,
        "asking": {
            "model": " and ".join(dict.fromkeys(one.endpoint.model for one in kinds)),
            "rows": rows,
            "questions": questions,
            "prompt_tokens": sum(prompt.values()),
            "completion_tokens": sum(completion.values()),
            "price": sum(known) if len(known) == len(kinds) else None,
            "left_out": 0 if chosen is None else chosen.left_out,
        },
    }


def _sampled(version: DatasetVersion, operation: AnyAsking) -> int:
    rows = version.rows if operation.sample is None else min(operation.sample, version.rows)
    if rows > MAX_ASKED_ROWS:
        detail = (
            f"{version.ref} has {version.rows:,} rows, and a job queries at most {MAX_ASKED_ROWS:,}. Choose a sample."
        )
        raise invalid("/operation/sample", detail, code="too_many_rows")
    return rows


def _questions(operation: AnyAsking, endpoint: JudgeEndpoint, solver: JudgeEndpoint, row: float) -> list[_Questions]:
    """Requests about a row of ``row`` tokens, if each succeeds at the first attempt."""
    longest = operation.max_tokens
    match operation:
        case AssessQuality():
            signs = sum(len(item.name) + len(item.description) for item in operation.items)
            beside = _INSTRUCTIONS + signs / _SIGNS_A_TOKEN
            return [_Questions(endpoint, 1, beside, min(20 + 40 * len(operation.items), longest))]
        case FindMemorised():
            rest = row * (1 - operation.shown)
            return [_Questions(endpoint, 1, -rest, rest + longest)]
        case SynthesiseRows():
            beside = _INSTRUCTIONS + len(operation.instruction) / _SIGNS_A_TOKEN
            answers = operation.variations * operation.attempts
            return [
                _Questions(endpoint, 1, beside, min(10 + operation.variations * (row + 10), longest)),
                _Questions(solver, answers, len(operation.answer_format) / _SIGNS_A_TOKEN, min(_SOLUTION, longest)),
            ]


def tokens_of_rows(version: DatasetVersion, columns: Sequence[str]) -> float:
    """Average number of tokens that the model sees of the first rows."""
    with missing_files("/operation"):
        rows = list(storage.read_rows(version.path, 0, _LOOKED_AT))
    signs = sum(len(text_of(row["prompt"], row["answer"], json.dumps(row["row"]), columns)) for row in rows)
    return signs / max(1, len(rows)) / _SIGNS_A_TOKEN


def _speed(operation: AnyAsking, endpoint: JudgeEndpoint) -> float | None:
    """Rows per second of earlier jobs with this endpoint; None if there are none."""
    done = LabJob.objects.for_team(endpoint.team).filter(
        kind=operation.kind, operation__endpoint=endpoint.slug, state=LabState.DONE, attempt=1, **_alike(operation)
    )
    speeds = [
        rows / max((seconds or 0.0) - _STARTUP_S, 0.1)
        for rows, seconds in done.filter(rows__gte=_LEAST_ROWS, seconds__gt=0)
        .order_by("-finished_at")
        .values_list("rows", "seconds")[:5]
    ]
    return median(speeds) if speeds else None


def _alike(operation: AnyAsking) -> dict[str, int]:
    """Arguments that determine the number of requests per row."""
    match operation:
        case SynthesiseRows():
            return {"operation__variations": operation.variations, "operation__attempts": operation.attempts}
        case AssessQuality() | FindMemorised():
            return {}


def price_of_tokens(endpoint: JudgeEndpoint, prompt: int, completion: int) -> float | None:
    if endpoint.price_prompt is None or endpoint.price_completion is None:
        return None
    return (prompt * endpoint.price_prompt + completion * endpoint.price_completion) / 1e6
