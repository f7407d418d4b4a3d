"""Exports of rollouts with their tokens: JSON lines as a stream, Parquet through a temporary file."""

import json
import math
import tempfile
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import pyarrow as pa
import pyarrow.parquet as pq

from dressage.telemetry.documents import rollout_document
from dressage.telemetry.models import Rollout
from dressage.telemetry.traces.reading import TraceGone, sample_tokens
from trainer_core.link.base import spelled
from trainer_core.link.traces import TOKEN_COLUMNS

ExportType = Literal["jsonl", "parquet"]
CONTENT_TYPES: dict[ExportType, str] = {
    "jsonl": "application/jsonl",
    "parquet": "application/vnd.apache.parquet",
}
AT_ONCE = 64
"""Samples that are in memory at the same time."""
CHUNK = 1 << 20

_SCALARS: dict[str, pa.DataType] = {
    "id": pa.string(), "step": pa.int64(), "attempt": pa.int64(), "group_id": pa.string(), "sample": pa.int64(),
    "prompt_id": pa.string(), "source": pa.string(), "prompt": pa.string(), "completion": pa.string(),
    "reward": pa.float64(), "reward_error": pa.string(), "advantage": pa.float64(), "excluded": pa.string(),
    "finish_reason": pa.string(), "length": pa.int64(), "thinking_tokens": pa.int64(), "budget_hit": pa.bool_(),
    "control_revision": pa.int64(), "reward_version": pa.string(),
}  # fmt: skip
_AS_JSON = ("answer", "reward_parts", "explanation", "shadow", "policy_versions", "turns")
"""Members whose shape differs between runs: JSON text in Parquet."""
_LISTS = {name: pa.list_(pa.type_for_alias(kind)) for name, kind in TOKEN_COLUMNS.items()}
_SCHEMA = pa.schema(
    [*_SCALARS.items(), *((name, pa.string()) for name in _AS_JSON), *_LISTS.items(), ("texts", pa.list_(pa.string()))]
)


def stream(ids: Iterable[list[int]], kind: ExportType, *, reasons: bool = True) -> Iterator[bytes]:
    """The samples with these ids, in order; tokens that are no longer stored are null. See ``rollout_document``."""
    found = _documents(ids, reasons)
    return _jsonl(found) if kind == "jsonl" else _parquet(found)


def _jsonl(found: Iterable[list[dict[str, Any]]]) -> Iterator[bytes]:
    for documents in found:
        lines = [json.dumps(_finite(one), separators=(",", ":"), allow_nan=False) for one in documents]
        yield ("\n".join(lines) + "\n").encode()


def _parquet(found: Iterable[list[dict[str, Any]]]) -> Iterator[bytes]:
    with tempfile.TemporaryFile() as file:
        with pq.ParquetWriter(file, _SCHEMA, compression="zstd") as writer:
            for documents in found:
                rows = [{**one, **{name: json.dumps(one[name]) for name in _AS_JSON}} for one in documents]
                writer.write_table(pa.Table.from_pylist(rows, _SCHEMA))
        file.seek(0)
        while block := file.read(CHUNK):
            yield block


def _documents(ids: Iterable[list[int]], reasons: bool) -> Iterator[list[dict[str, Any]]]:
    for stretch in ids:
        for begin in range(0, len(stretch), AT_ONCE):
            wanted = stretch[begin : begin + AT_ONCE]
            found = Rollout.objects.select_related("trace").in_bulk(wanted)
            yield [_document(found[number], reasons) for number in wanted if number in found]


def _document(rollout: Rollout, reasons: bool) -> dict[str, Any]:
    columns: dict[str, Any] = dict.fromkeys((*TOKEN_COLUMNS, "texts"))
    try:
        tokens = sample_tokens(rollout)
    except TraceGone:
        pass
    else:
        rollout.prompt, rollout.completion = tokens.prompt, tokens.completion
        columns |= {name: None if values is None else values.tolist() for name, values in tokens.columns.items()}
        columns["texts"] = [tokens.vocabulary[one] for one in columns["token_ids"] or ()]
    return {**rollout_document(rollout, reasons=reasons), **columns}


def _finite(document: dict[str, Any]) -> dict[str, Any]:
    """The document with strings in place of numbers that JSON cannot represent."""
    return {
        name: [spelled(one) if isinstance(one, float) and not math.isfinite(one) else one for one in value]
        if isinstance(value, list)
        else value
        for name, value in document.items()
    }
