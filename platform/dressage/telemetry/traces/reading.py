"""Reads of trace files: tokens of one sample, texts of several, and search."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray
from typing_extensions import TypedDict

from dressage.telemetry.models import Rollout, TraceFile
from dressage.telemetry.traces.storage import path_of
from trainer_core.link.traces import COMPLETION, PROMPT, TOKEN_COLUMNS, VOCABULARY


class RolloutTokensDocument(TypedDict):
    """Every token of a sample. A column is null if nothing is known of it; otherwise it has one value per token."""

    prompt: str
    completion: str
    columns: dict[str, str | None]
    """Base64 of little-endian values: 32-bit integers for token_ids and versions, 32-bit floats for engine_logprobs,
    learner_logprobs, entropy and advantages, bytes of 0 and 1 for sampled and loss_mask."""
    vocabulary: dict[str, str]
    """Text of each token id among them."""


class TraceGone(LookupError):
    """The tokens are no longer stored, or never were."""


@dataclass(frozen=True, slots=True)
class SampleTokens:
    """Tokens of one sample."""

    prompt: str
    completion: str
    columns: dict[str, NDArray[Any] | None]
    """Values by name, shape [T]; None if nothing is known."""
    vocabulary: dict[int, str]
    """Text of each token id among them."""


def sample_tokens(rollout: Rollout) -> SampleTokens:
    """Tokens of a rollout. Raises TraceGone."""
    if rollout.trace is None or rollout.trace_row is None:
        raise TraceGone("The tokens of this rollout are not stored.")
    with opened(rollout.trace) as file:
        table = _row(file, rollout.trace_row)
        vocabulary = json.loads((file.metadata.metadata or {}).get(VOCABULARY, b"{}"))
    columns = {name: _values(table, name) for name in TOKEN_COLUMNS}
    ids = columns["token_ids"]
    used = [] if ids is None else np.unique(ids).tolist()
    return SampleTokens(
        prompt=table.column(PROMPT)[0].as_py(),
        completion=table.column(COMPLETION)[0].as_py(),
        columns=columns,
        vocabulary={one: vocabulary.get(str(one), "") for one in used},
    )


def fill(rollouts: Sequence[Rollout]) -> None:
    """Load the full texts of rollouts from trace files. If a file was just pruned, its rollouts keep the beginning."""
    by_file: dict[int, list[Rollout]] = defaultdict(list)
    for rollout in rollouts:
        if rollout.indexed and rollout.trace_id is not None:
            by_file[rollout.trace_id].append(rollout)
    files = TraceFile.objects.in_bulk(list(by_file))
    for number, found in by_file.items():
        if number not in files:
            continue
        try:
            with opened(files[number]) as file:
                table = file.read(columns=[PROMPT, COMPLETION])
        except TraceGone:
            continue
        for rollout in found:
            rollout.prompt = table.column(PROMPT)[rollout.trace_row].as_py()
            rollout.completion = table.column(COMPLETION)[rollout.trace_row].as_py()


def search(files: Iterable[TraceFile], text: str) -> Iterator[tuple[int, list[int]]]:
    """(id of the file, rows whose prompt or completion contains ``text``, ignoring case) of each file with matches."""
    for file in files:
        try:
            with opened(file) as parquet:
                table = parquet.read(columns=[PROMPT, COMPLETION])
        except TraceGone:
            continue
        hits = [pc.match_substring(table.column(name), text, ignore_case=True) for name in (PROMPT, COMPLETION)]
        found = pc.or_(*hits)
        rows = np.flatnonzero(found.to_numpy(zero_copy_only=False)).tolist()
        if rows:
            yield file.id, rows


@contextmanager
def opened(file: TraceFile) -> Iterator[pq.ParquetFile]:
    """The file, open. Raises TraceGone if it is missing or damaged."""
    try:
        with pq.ParquetFile(path_of(file), memory_map=True) as found:
            yield found
    except (OSError, pa.ArrowException) as error:
        raise TraceGone(f"The tokens of step {file.step} are no longer stored.") from error


def _row(file: pq.ParquetFile, row: int) -> pa.Table:
    """One row, from the row group that holds it. Raises TraceGone."""
    begin = 0
    known = [name for name in (PROMPT, COMPLETION, *TOKEN_COLUMNS) if name in file.schema_arrow.names]
    for group in range(file.metadata.num_row_groups):
        size = file.metadata.row_group(group).num_rows
        if row < begin + size:
            return file.read_row_group(group, columns=known).slice(row - begin, 1)
        begin += size
    raise TraceGone("The tokens of this rollout are not stored.")


def _values(table: pa.Table, name: str) -> NDArray[Any] | None:
    if name not in table.column_names:
        return None
    scalar = table.column(name)[0]
    if not scalar.is_valid:
        return None
    values: NDArray[Any] = scalar.values.to_numpy(zero_copy_only=False)
    return values
