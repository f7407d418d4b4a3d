"""A source row of variations: its question, and how a variation becomes a row."""

import json
from dataclasses import dataclass
from typing import Any

from dressage.datasets.rows.ids import OWN_COLUMNS, content_id
from dressage.datasets.versions.families import PASS_RATE, VARIATION_OF
from dressage.lab.asking.rows import AskedRow

_KEPT_OF_ID = 60
"""Number of characters of the source's id that begin the id of a variation."""


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A parsed row."""

    id: str
    data: dict[str, Any]
    text: str
    """The prompt or last message, of which variations are created."""
    answer: str

    @property
    def before(self) -> list[dict[str, str]]:
        """The messages before the text. They do not change."""
        messages: list[dict[str, str]] = self.data.get("messages", [])
        return messages[:-1]

    def with_text(self, text: str, answer: str | None = None) -> dict[str, Any]:
        """The row with its text replaced, and its answer as well if one is given."""
        data = self.data if answer is None else {**self.data, "answer": answer}
        if "prompt" in data:
            return {**data, "prompt": text}
        return {**data, "messages": [*self.before, {**data["messages"][-1], "content": text}]}

    def variation(self, text: str, answer: str | None, pass_rate: float) -> tuple[str, dict[str, Any]]:
        """(id, row) of a variation. Columns with the source's id get the variation's id; all others stay."""
        row_id = f"{self.id[:_KEPT_OF_ID]}+{content_id([self.id, text])[:8]}"
        own = {name: row_id for name in OWN_COLUMNS if name in self.data and str(self.data[name]) == self.id}
        return row_id, {**self.with_text(text, answer), **own, VARIATION_OF: self.id, PASS_RATE: round(pass_rate, 4)}


def read_source(row: AskedRow) -> SourceRow:
    """The parsed row. It has an answer, since rows without one are not chosen."""
    return SourceRow(row.id, json.loads(row.data), row.prompt, row.answer or "")
