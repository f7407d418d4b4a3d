"""Encoding of trace files: columns of samples, as declared in ``trainer_core.link.traces``."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from trainer_core.episodes import Group, Trajectory
from trainer_core.link.limits import MAX_TOKEN_TEXT, MAX_TRACE_BYTES, MAX_TRACE_SAMPLES, MAX_TRACE_TOKENS
from trainer_core.link.traces import COMPLETION, HEADER, PROMPT, ROW, TOKEN_COLUMNS, VOCABULARY, TraceHeader
from worker.loop.reporting.reports import trace_row

Sample = tuple[Group, int]
"""A group and the index of one of its trajectories."""
TARGET_BYTES = MAX_TRACE_BYTES // 2
"""Estimated bytes at which a file counts as full. Leaves room for wrong estimates."""
TOKEN_BYTES = 16
"""Approximate packed bytes of a token in all columns."""
SAMPLE_BYTES = 900
"""Approximate bytes of a sample without its tokens and texts, with the reasons of two graders."""
ROW_GROUP_TOKENS = 2**16
"""Tokens that are read together to show one sample."""

_FLOATS = [name for name, kind in TOKEN_COLUMNS.items() if kind == "float32"]
_TYPES = {name: pa.type_for_alias(kind) for name, kind in TOKEN_COLUMNS.items()}


def estimate(group: Group) -> int:
    """Approximate bytes of a group in a file."""
    text = sum(len(t.output_text) for t in group.trajectories) // 3
    return text + sum(SAMPLE_BYTES + TOKEN_BYTES * t.length for t in group.trajectories)


def cut(groups: Sequence[Group]) -> Iterator[list[Sample]]:
    """Split the groups' samples, in order, into pieces of about ``TARGET_BYTES``; each fits in a file."""
    piece: list[Sample] = []
    size = tokens = 0
    for group in groups:
        for place, trajectory in enumerate(group.trajectories):
            own = SAMPLE_BYTES + TOKEN_BYTES * trajectory.length + len(trajectory.output_text) // 3
            full = size + own > TARGET_BYTES or tokens + trajectory.length > MAX_TRACE_TOKENS
            if piece and (full or len(piece) == MAX_TRACE_SAMPLES):
                yield piece
                piece, size, tokens = [], 0, 0
            piece.append((group, place))
            size += own
            tokens += trajectory.length
    if piece:
        yield piece


def encode(header: TraceHeader, samples: Sequence[Sample], text: Callable[[int], str]) -> bytes:
    """Encode a trace file.

    Args:
        header: describes the content.
        samples: samples whose groups have the text of their prompts.
        text: returns the text of a token id.
    """
    trajectories = [group.trajectories[place] for group, place in samples]
    arrays: dict[str, Any] = {
        ROW: pa.array(
            [json.dumps(trace_row(group, place).wire(), separators=(",", ":")) for group, place in samples], pa.string()
        ),
        PROMPT: pa.array([_storable(group.prompt_text) for group, _ in samples], pa.string()),
        COMPLETION: pa.array([_storable(t.output_text) for t in trajectories], pa.string()),
    }
    for name in TOKEN_COLUMNS:
        arrays[name] = _lists([_values(name, t) for t in trajectories], _TYPES[name])
    ids = np.unique(np.concatenate([t.token_ids for t in trajectories] or [np.zeros(0, np.int32)]))
    vocabulary = {str(one): _storable(text(one))[:MAX_TOKEN_TEXT] for one in ids.tolist()}
    table = pa.table(arrays).replace_schema_metadata(
        {HEADER: header.model_dump_json().encode(), VOCABULARY: json.dumps(vocabulary).encode()}
    )
    tokens = sum(t.length for t in trajectories)
    sink = io.BytesIO()
    pq.write_table(
        table,
        sink,
        row_group_size=max(1, ROW_GROUP_TOKENS * len(samples) // max(1, tokens)),
        compression="zstd",
        compression_level=1,
        use_dictionary=[PROMPT, "versions.list.element"],
        use_byte_stream_split=[f"{name}.list.element" for name in _FLOATS],
        write_statistics=False,
    )
    return sink.getvalue()


def _values(name: str, trajectory: Trajectory) -> NDArray[Any] | None:
    """Values of a column for one sample, shape [T]; None if nothing is known about its tokens."""
    match name:
        case "engine_logprobs":
            return trajectory.behaviour_logprobs
        case "advantages":
            return trajectory.token_advantages
        case "loss_mask":
            return trajectory.sampled & (trajectory.excluded is None)
        case _:
            values: NDArray[Any] | None = getattr(trajectory, name)
            return values


def _lists(values: Sequence[NDArray[Any] | None], kind: pa.DataType) -> pa.ListArray:
    """One list per sample; null if there are no values."""
    offsets = np.zeros(len(values) + 1, np.int32)
    np.cumsum([0 if one is None else len(one) for one in values], out=offsets[1:])
    known = [one for one in values if one is not None]
    flat = np.concatenate(known) if known else np.zeros(0, kind.to_pandas_dtype())
    mask = pa.array([one is None for one in values], pa.bool_())
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(flat, kind), mask=mask)


def _storable(text: str) -> str:
    """``text`` in a form that UTF-8 can encode: lone surrogates are replaced."""
    return text.encode("utf-8", "replace").decode("utf-8") if any("\ud800" <= c <= "\udfff" for c in text) else text
