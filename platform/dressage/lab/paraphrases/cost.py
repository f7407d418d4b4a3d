"""Cost of embeddings: requests, tokens and price, estimated in advance."""

from math import ceil

from dressage.common.api.problems import invalid
from dressage.datasets.models import DatasetVersion
from dressage.lab.arguments import FindParaphrases
from dressage.lab.asking.cost import price_of_tokens, tokens_of_rows
from dressage.lab.cost import LabCost
from dressage.lab.paraphrases.vectors import BATCH
from dressage.rewards.models import JudgeEndpoint

MAX_ROWS = 50_000
"""Maximum number of rows. Every pair of embeddings is compared."""
_STARTUP_S = 2.0
_SECONDS_A_QUESTION = 1.0
_PAIRS_A_SECOND = 1e7
_BYTES_A_ROW = 3 * 2 * 4096 + 8_000
"""Embeddings of a large model, temporarily three copies, plus a text."""
_BASE_BYTES = 200 << 20


def cost_of_vectors(version: DatasetVersion, operation: FindParaphrases, endpoint: JudgeEndpoint) -> LabCost:
    """Estimate the cost. Raises a 422 problem if the version has too many rows."""
    if version.rows > MAX_ROWS:
        detail = (
            f"{version.ref} has {version.rows:,} rows, and at most {MAX_ROWS:,} are compared pairwise. Remove near"
            " duplicates first, or create a smaller version."
        )
        raise invalid("/operation", detail, code="too_many_rows")
    questions = ceil(version.rows / BATCH)
    tokens = round(version.rows * tokens_of_rows(version, operation.columns))
    seconds = questions * _SECONDS_A_QUESTION / min(16, endpoint.max_in_flight) + version.rows**2 / 2 / _PAIRS_A_SECOND
    return {
        "rows": version.rows,
        "bytes": version.bytes,
        "seconds": round(_STARTUP_S + seconds, 1),
        "measured": False,
        "memory_bytes": _BASE_BYTES + version.rows * _BYTES_A_ROW,
        "asking": {
            "model": endpoint.model,
            "rows": version.rows,
            "questions": questions,
            "prompt_tokens": tokens,
            "completion_tokens": 0,
            "price": price_of_tokens(endpoint, tokens, 0),
            "left_out": 0,
        },
    }
