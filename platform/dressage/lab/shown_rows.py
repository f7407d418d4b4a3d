"""Rows shown in reports, read by number."""

from collections.abc import Iterable

from dressage.datasets.versions import storage
from dressage.lab.plan import StoredRows
from dressage.lab.reports import LONGEST, ShownRow


def shown_rows(stored: StoredRows, places: Iterable[int]) -> dict[int, ShownRow]:
    """Rows of a version by number, from 0."""
    wanted = sorted(set(places))
    texts = storage.read_column_at(stored.path, "prompt", wanted)
    answers = storage.read_column_at(stored.path, "answer", wanted)
    ids = {number: row_id for number, row_id, _ in storage.read_identified(stored.path, wanted)}
    return {
        number: ShownRow(
            ref=stored.ref,
            index=number,
            id=ids[number],
            text=_short(texts[number]),
            answer=None if answers[number] is None else _short(answers[number]),
        )
        for number in texts
    }


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
