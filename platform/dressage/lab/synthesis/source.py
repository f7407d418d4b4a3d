"""A row of which variations are made: its question, and the row that a variation of it becomes."""

import json
from dataclasses import dataclass
from typing import Any

from dressage.datasets.rows.ids import OWN_COLUMNS, content_id
from dressage.datasets.versions.families import PASS_RATE, VARIATION_OF
from dressage.lab.asking.rows import AskedRow

_KEPT_OF_ID = 60
"""Signs of the source's id that a variation's begins with."""


@dataclass(frozen=True, slots=True)
class SourceRow:
    """A row, read."""

    id: str
    data: dict[str, Any]
    text: str
    """The prompt, or the last message, of which variations are made."""
    answer: str

    @property
    def before(self) -> list[dict[str, str]]:
        """The messages that stand before the text, of which nothing changes."""
        messages: list[dict[str, str]] = self.data.get("messages", [])
        return messages[:-1]

    def with_text(self, text: str, answer: str | None = None) -> dict[str, Any]:
        """The row with another text in the place of its own, and another answer where one is given."""
        data = self.data if answer is None else {**self.data, "answer": answer}
        if "prompt" in data:
            return {**data, "prompt": text}
        return {**data, "messages": [*self.before, {**data["messages"][-1], "content": text}]}

    def variation(self, text: str, answer: str | None, pass_rate: float) -> tuple[str, dict[str, Any]]:
        """(id, row) of a variation: columns that hold the source's id get the variation's, all others stay."""
        row_id = f"{self.id[:_KEPT_OF_ID]}+{content_id([self.id, text])[:8]}"
        own = {name: row_id for name in OWN_COLUMNS if name in self.data and str(self.data[name]) == self.id}
        return row_id, {**self.with_text(text, answer), **own, VARIATION_OF: self.id, PASS_RATE: round(pass_rate, 4)}


def read_source(row: AskedRow) -> SourceRow:
    """The row; its answer is there, since rows without one are not chosen."""
    return SourceRow(row.id, json.loads(row.data), row.prompt, row.answer or "")
