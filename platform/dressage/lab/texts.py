"""Texts of the rows of a stored version, a few thousand at a time."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dressage.datasets.versions import storage

PROMPT, ANSWER = "prompt", "answer"
SLICE_BYTES = 16 << 20
"""Size of rows processed at a time, so that long rows do not fill the memory."""


@dataclass(frozen=True, slots=True)
class Texts:
    """Consecutive rows."""

    start: int
    """Number of the first row, from 0."""
    ids: list[str]
    texts: list[str]
    answers: list[str | None]

    def __len__(self) -> int:
        return len(self.texts)


def read_texts(path: Path, columns: Sequence[str] = (PROMPT,), after: int = 0) -> Iterator[Texts]:
    """The texts of the named columns from row ``after`` on, in slices of bounded size.

    ``prompt`` is the prompt, or the user and assistant messages of a chat. System messages, which whole datasets share,
    are left out. Several columns are joined by a line break. A missing column is empty. If ``after`` is the start of a
    slice, the slices from there on are the same as in a reading from the beginning.
    """
    start = 0
    for table in storage.tables(path):
        rows = table.column("row").to_pylist()
        records = list(
            zip(
                table.column("id").to_pylist(),
                table.column("prompt").to_pylist(),
                table.column("answer").to_pylist(),
                rows,
                strict=True,
            )
        )
        for first, last in _slices(rows):
            if start + last > after:
                part = records[first:last]
                texts = [text_of(prompt, answer, row, columns) for _, prompt, answer, row in part]
                yield Texts(start + first, [one[0] for one in part], texts, [one[2] for one in part])
        start += len(rows)


def _slices(rows: list[str]) -> Iterator[tuple[int, int]]:
    first = size = 0
    for place, row in enumerate(rows):
        if size and size + len(row) > SLICE_BYTES:
            yield first, place
            first, size = place, 0
        size += len(row)
    if size:
        yield first, len(rows)


def text_of(prompt: str, answer: str | None, row: str, columns: Sequence[str]) -> str:
    """The text of some columns of a stored row, as in ``read_texts``."""
    data: dict[str, Any] | None = None
    parts = []
    for column in columns:
        if column == ANSWER:
            parts.append(answer or "")
        elif column == PROMPT and row.count('"role"') < 2:
            parts.append(prompt)
        else:
            data = json.loads(row) if data is None else data
            parts.append(_chat(data, prompt) if column == PROMPT else _plain(data.get(column)))
    return "\n".join(parts)


def _chat(data: dict[str, Any], prompt: str) -> str:
    messages = data.get("messages")
    if not isinstance(messages, list):
        return prompt
    said = [str(message.get("content", "")) for message in messages if message.get("role") != "system"]
    return "\n".join(said)


def _plain(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
