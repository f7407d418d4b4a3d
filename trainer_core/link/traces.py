"""Trace files: kept rollouts of a step, with one value per completion token, as Parquet.

A row is a sample: ``row`` is a ``TraceRow`` as JSON, ``prompt`` and ``completion`` are its texts, uncut, and each of
``TOKEN_COLUMNS`` is a list of T values, or null where nothing is known of the sample's tokens. The file's metadata hold
a ``TraceHeader`` and the vocabulary: what each token id in it stands for. Readers leave out columns that they do not
know and do without those that are not there.

A worker sends a file as the body of a PUT to ``traces/<step>/<number>`` of its run. A file is stored once by (run,
attempt, step, number), and as a whole or not at all.
"""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from trainer_core.link.base import Count, Message
from trainer_core.link.events import RolloutRow

HEADER = b"dressage.trace"
"""Key of the header in a file's metadata."""
VOCABULARY = b"dressage.vocabulary"
"""Key of the vocabulary in a file's metadata: JSON, ``{token id: text}``."""
MEDIA_TYPE = "application/vnd.apache.parquet"

ROW, PROMPT, COMPLETION = "row", "prompt", "completion"
TOKEN_COLUMNS: Mapping[str, str] = {
    "token_ids": "int32",  # nosec B105
    "engine_logprobs": "float32",
    "learner_logprobs": "float32",
    "entropy": "float32",
    "advantages": "float32",
    "versions": "int32",
    "sampled": "bool",
    "loss_mask": "bool",
}
"""Type of each column of lists: token ids; log-probability by the engine that sampled, and by the learner before its
update; the learner's entropy; advantage; version of the sampling weights; false where the token was forced; and whether
it counts in the loss, as far as exclusions and forcing decide it."""


class TraceHeader(Message):
    """What a trace file holds of which step."""

    run_id: Annotated[str, Field(max_length=40)]
    attempt: Count
    step: Count
    number: Annotated[int, Field(ge=0, le=32_767)]
    """Place of the file among those of its step."""
    stays: bool
    """Whether it holds groups of the sample that stays, or the others of its step."""
    groups: Count
    """Groups of the step, those included that no file holds."""


class TraceRow(RolloutRow):
    """A sample of a trace file; its texts stand in columns of their own."""

    prompt: str = ""
    completion: str = ""
