"""Families of rows: a row and its variations, which must be on the same side of every split."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from dressage.datasets.versions import storage

VARIATION_OF = "variation_of"
"""Column of a variation: the id of its source row."""
PASS_RATE = "variation_pass_rate"  # nosec B105
"""Column of a variation: the share of right answers in its verification, from 0 to 1."""
MARK = f'"{VARIATION_OF}"'
"""Text that occurs in the JSON of every variation."""


def source_of(text: str) -> str | None:
    """Id of the source if the row, given as JSON, is a variation; None otherwise."""
    if MARK not in text:
        return None
    found = json.loads(text).get(VARIATION_OF)
    return found if isinstance(found, str) and found else None


def heads(table: pa.Table) -> list[str]:
    """Ids that assign stored rows to parts of a split: the id of each row's source, or its own."""
    found: list[str] = table.column("id").to_pylist()
    marked = pc.indices_nonzero(pc.match_substring(table.column("row"), MARK)).to_pylist()
    for place, text in zip(marked, table.column("row").take(marked).to_pylist() if marked else [], strict=True):
        found[place] = source_of(text) or found[place]
    return found


class Kin:
    """Renames the sources of variations in one file if these get other ids. Sources must precede their variations.

    Memory: the ids of the sources that the file's variations name.
    """

    def __init__(self, path: Path) -> None:
        marked = (table.column("row") for table in storage.tables(path))
        texts = (text for column in marked for text in column.filter(pc.match_substring(column, MARK)).to_pylist())
        self._named = {source_of(text) for text in texts}
        self._ids: dict[str, str] = {}

    def told(self, old: str, new: str) -> str:
        """Return the new id of a row. It is recorded if a variation names the old one."""
        if old in self._named:
            self._ids[old] = new
        return new

    def renamed(self, table: pa.Table) -> pa.Table:
        """The rows, with variations that name their sources by the new ids."""
        if not self._ids:
            return table
        texts = table.column("row").to_pylist()
        for place in pc.indices_nonzero(pc.match_substring(table.column("row"), MARK)).to_pylist():
            new = self._ids.get(source_of(texts[place]) or "")
            if new is not None:
                row = {**json.loads(texts[place]), VARIATION_OF: new}
                texts[place] = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
        column = pa.array(texts, storage.SCHEMA.field("row").type)
        return table.set_column(table.schema.get_field_index("row"), storage.SCHEMA.field("row"), column)
