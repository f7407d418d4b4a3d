"""Cost of an operation that asks a model: questions, tokens and price, told before it is started."""

import json
from collections.abc import Sequence
from statistics import median

from dressage.common.problems import invalid
from dressage.datasets import storage
from dressage.datasets.models import DatasetVersion
from dressage.datasets.selectors import missing_files
from dressage.lab.arguments import MAX_ASKED_ROWS, AnyAsking, AssessQuality
from dressage.lab.asking.client import MOST_AT_ONCE
from dressage.lab.cost import LabCost
from dressage.lab.models import LabJob, LabState
from dressage.lab.texts import text_of
from dressage.rewards.models import JudgeEndpoint

_STARTUP_S = 2.0
_SECONDS_A_QUESTION = 3.0
"""Told until this installation has asked the endpoint itself."""
_LOOKED_AT = 50
"""Rows, the first of the version, by whose length the tokens are estimated."""
_SIGNS_A_TOKEN = 4
_INSTRUCTIONS = 250
"""Tokens of what a question has beside the row."""
_LEAST_ROWS = 10
_BASE_BYTES = 200 << 20
_BYTES_A_ROW = 20_000


def cost_of_asking(version: DatasetVersion, operation: AnyAsking, endpoint: JudgeEndpoint) -> LabCost:
    """The cost of an operation. Raises a 422 problem where it would ask about too many rows."""
    rows = version.rows if operation.sample is None else min(operation.sample, version.rows)
    if rows > MAX_ASKED_ROWS:
        detail = (
            f"{version.ref} has {version.rows:,} rows, and a job asks about {MAX_ASKED_ROWS:,} at most. Name a sample."
        )
        raise invalid("/operation/sample", detail, code="too_many_rows")
    questions, beside, answer = _shape(operation)
    prompt = round(rows * questions * (_INSTRUCTIONS + beside + _tokens_of_rows(version, operation.columns)))
    completion = round(rows * questions * min(answer, operation.max_tokens))
    speed = _speed(operation, endpoint)
    usual = questions * _SECONDS_A_QUESTION / min(endpoint.max_in_flight, MOST_AT_ONCE)
    return {
        "rows": rows,
        "bytes": version.bytes,
        "seconds": round(_STARTUP_S + rows * (1 / speed if speed else usual), 1),
        "measured": speed is not None,
        "memory_bytes": _BASE_BYTES + rows * _BYTES_A_ROW,
        "asking": {
            "model": endpoint.model,
            "rows": rows,
            "questions": round(rows * questions),
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "price": _price(endpoint, prompt, completion),
        },
    }


def _shape(operation: AnyAsking) -> tuple[float, float, float]:
    """(questions a row, tokens beside the row and what each question has, tokens of an answer)."""
    match operation:
        case AssessQuality():
            signs = sum(len(item.name) + len(item.description) for item in operation.items)
            return 1, signs / _SIGNS_A_TOKEN, 20 + 40 * len(operation.items)


def _tokens_of_rows(version: DatasetVersion, columns: Sequence[str]) -> float:
    """Mean tokens of what the model sees of the first rows."""
    with missing_files("/operation"):
        rows = list(storage.read_rows(version.path, 0, _LOOKED_AT))
    signs = sum(len(text_of(row["prompt"], row["answer"], json.dumps(row["row"]), columns)) for row in rows)
    return signs / max(1, len(rows)) / _SIGNS_A_TOKEN


def _speed(operation: AnyAsking, endpoint: JudgeEndpoint) -> float | None:
    """Rows a second of jobs that asked the endpoint before; None without such."""
    done = LabJob.objects.for_team(endpoint.team).filter(
        kind=operation.kind, operation__endpoint=endpoint.slug, state=LabState.DONE, attempt=1
    )
    speeds = [
        rows / max((seconds or 0.0) - _STARTUP_S, 0.1)
        for rows, seconds in done.filter(rows__gte=_LEAST_ROWS, seconds__gt=0)
        .order_by("-finished_at")
        .values_list("rows", "seconds")[:5]
    ]
    return median(speeds) if speeds else None


def _price(endpoint: JudgeEndpoint, prompt: int, completion: int) -> float | None:
    if endpoint.price_prompt is None or endpoint.price_completion is None:
        return None
    return (prompt * endpoint.price_prompt + completion * endpoint.price_completion) / 1e6
