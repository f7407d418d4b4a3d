"""An uploaded trace file, parsed and checked before any of it is stored. Its tokens stay in the file."""

import io
import json
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import ValidationError

from dressage.common.api.problems import Problem
from dressage.common.storable import clean
from trainer_core.link.base import first_fault
from trainer_core.link.limits import MAX_TRACE_SAMPLES, MAX_TRACE_TOKENS
from trainer_core.link.traces import COMPLETION, HEADER, PROMPT, ROW, TOKEN_COLUMNS, TraceHeader, TraceRow

EXCERPT = 300
"""Characters of a prompt or a completion that the index stores."""
MAX_UNFOLDED = 2**29
"""Maximum uncompressed size of a file's columns in bytes."""


@dataclass(frozen=True, slots=True)
class Upload:
    """Content of a file that is indexed."""

    header: TraceHeader
    rows: list[TraceRow]
    """One per sample, with the beginning of its texts."""
    tokens: int


def read_upload(data: bytes) -> Upload:
    """Read a file's header and rows. Raises a 422 problem, which says what is wrong, if it is not a trace file."""
    try:
        with pq.ParquetFile(io.BytesIO(data), memory_map=False) as file:
            header = _header(file)
            _check_size(file)
            table = file.read(columns=[ROW, PROMPT, COMPLETION])
            _check_columns(file.schema_arrow)
            texts = (table.column(name).to_pylist() for name in (ROW, PROMPT, COMPLETION))
            rows = [_row(*row) for row in zip(*texts, strict=True)]
    except Problem:
        raise
    except ValidationError as error:
        where, fault = first_fault(error)
        raise _unreadable(f"{where}: {fault}") from error
    except (pa.ArrowException, OSError, ValueError, TypeError, KeyError) as error:
        raise _unreadable(str(error)) from error
    return Upload(header, rows, sum(row.length for row in rows))


def _header(file: pq.ParquetFile) -> TraceHeader:
    metadata = file.metadata.metadata or {}
    if HEADER not in metadata:
        raise _unreadable(f"it has no {HEADER.decode()}")
    return TraceHeader.model_validate_json(metadata[HEADER])


def _check_size(file: pq.ParquetFile) -> None:
    """Refuse a file that is small when sent and huge when uncompressed."""
    facts = file.metadata
    if not 1 <= facts.num_rows <= MAX_TRACE_SAMPLES:
        raise _unreadable(f"it has {facts.num_rows} samples; allowed are 1 to {MAX_TRACE_SAMPLES}")
    unfolded = 0
    for group in (facts.row_group(index) for index in range(facts.num_row_groups)):
        unfolded += group.total_byte_size
        for column in (group.column(index) for index in range(group.num_columns)):
            if column.num_values > MAX_TRACE_TOKENS:
                raise _unreadable(f"a column has more than {MAX_TRACE_TOKENS} values")
    if unfolded > MAX_UNFOLDED:
        raise _unreadable(f"it decompresses to {unfolded} bytes; at most {MAX_UNFOLDED} are read")


def _check_columns(schema: pa.Schema) -> None:
    for name, kind in TOKEN_COLUMNS.items():
        if name in schema.names and schema.field(name).type != pa.list_(pa.type_for_alias(kind)):
            raise _unreadable(f"the column {name} contains {schema.field(name).type}, not lists of {kind}")


def _row(row: str, prompt: str, completion: str) -> TraceRow:
    document: Any = json.loads(row)
    texts = {"prompt": prompt[:EXCERPT], "completion": completion[:EXCERPT]}
    return TraceRow.model_validate(clean({**document, **texts}))


def _unreadable(why: str) -> Problem:
    return Problem(422, "Invalid trace file", f"The trace file cannot be read: {why}.", code="invalid_trace")
