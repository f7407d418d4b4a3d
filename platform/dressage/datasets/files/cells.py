"""Cells of the tables that downloads write: what their header says of a column, and how its cells are read back.

A table has only texts, so a plain column holds texts and nothing else. Its header says if cells mean more:

    prompt            texts
    messages::json    JSON; an empty cell means that the row has no such column
    note::escaped     texts; an apostrophe in front of a cell does not belong to it

Spreadsheets take a text that begins with ``=``, ``+``, ``-`` or ``@`` for a formula (CWE-1236). An apostrophe in front
makes it a text for them, too.
"""

import json
from typing import Any, Literal

from dressage.common.api.strict_json import loads
from dressage.datasets.limits import MAX_DEPTH
from trainer_core.datasets.fields import json_type

CellKind = Literal["text", "json", "escaped"]
_SUFFIXES: dict[CellKind, str] = {"json": "::json", "escaped": "::escaped"}
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""Characters that begin a formula, or that a spreadsheet skips before it looks for one, also in full width."""
_ESCAPE = "'"


def needs_escape(text: str) -> bool:
    """Whether a text must be escaped in a column that declares it."""
    return text.startswith((*_FORMULA, _ESCAPE))


def escaped(text: str) -> str:
    """The cell of a text in an escaped column."""
    return f"{_ESCAPE}{text}" if needs_escape(text) else text


def header_cell(name: str, kind: CellKind) -> str:
    """The header of a column. Names that a header cannot hold as they are become JSON."""
    declared = any(name.endswith(suffix) for suffix in _SUFFIXES.values())
    if name != name.strip() or not name or needs_escape(name) or name.startswith(('"', "\ufeff")):
        name, declared = json.dumps(name), True
    return f"{name}{_SUFFIXES.get(kind) or (_SUFFIXES['escaped'] if declared else '')}"


def kind_of_header(cell: str) -> CellKind:
    """Kind of the cells in the column with this header."""
    return next((kind for kind, suffix in _SUFFIXES.items() if cell.endswith(suffix)), "text")


def name_of_header(cell: str) -> str:
    """The name of a column, without what the header says of its cells."""
    kind = kind_of_header(cell)
    if kind == "text":
        return cell
    name = cell.removesuffix(_SUFFIXES[kind])
    if name.startswith('"'):
        try:
            value = json.loads(name)
        except ValueError:
            return name
        return value if isinstance(value, str) else name
    return name


def read_cell(cell: str, kind: CellKind, name: str) -> Any:
    """The value of a cell that is not empty, or of any cell of texts.

    Raises:
        ValueError: the column declares JSON, and the cell holds none.
    """
    if kind == "escaped":
        return cell.removeprefix(_ESCAPE)
    if kind == "text":
        return cell
    try:
        return loads(cell, MAX_DEPTH)
    except json.JSONDecodeError as error:
        shown = f"`{name[:60]}`"
        raise ValueError(
            f"The header declares {shown} as JSON, and this cell is none: {error.msg} at character {error.pos + 1}. "
            f'Put texts in double quotes, or remove "::json" from the header if all cells are texts.'
        ) from error


def cell_kind(values: set[str]) -> CellKind:
    """Kind of cell for a column with values of these kinds, as ``kind_of_value`` names them."""
    if values == {"text"}:
        return "text"
    return "escaped" if values <= {"text", "formula"} else "json"


def kind_of_value(value: Any) -> str:
    """``text``, ``formula`` for a text that must be escaped, or the JSON type of anything else."""
    if not isinstance(value, str):
        return json_type(value)
    return "formula" if needs_escape(value) else "text"
