"""One row with everything that is known about it."""

from typing import Any

from typing_extensions import TypedDict

from dressage.common.api.problems import not_found
from dressage.datasets.models import DatasetVersion
from dressage.datasets.rows.facts import facts_of
from dressage.datasets.search.replaced import read_again
from dressage.datasets.search.stored_rows import read
from dressage.datasets.versions import notes
from trainer_core.datasets import control_tokens


class OneRow(TypedDict):
    """A stored row."""

    index: int
    """Position in the version, from 0."""
    id: str
    json: str
    """The whole row as stored JSON text. Integers are exact here, which not every JSON reader preserves."""
    length: int
    """Length of the prompt or chat, in characters."""
    script: str
    """Script that most letters belong to."""
    control_tokens: list[str]
    """Parts of the prompt or chat that look like control tokens. They are encoded as text."""
    notes: dict[str, dict[str, Any]]
    """``{name: {column: value}}`` of what operations found about the row."""


def one_row(version: DatasetVersion, number: int) -> OneRow:
    """The row with this number, from 0. Raises a 404 problem, or FileNotFoundError."""
    found = read(version.path, [number])
    if not found:
        raise not_found("row")
    facts = facts_of(found[0].row, found[0].answer)
    return {
        "index": number,
        "id": found[0].id,
        "json": found[0].text,
        "length": facts.length,
        "script": facts.script,
        "control_tokens": control_tokens(facts.text),
        "notes": read_again(lambda: notes.at(version, [number]))[number],
    }
