"""Reads columns for shapes, with error messages about what is wrong with them."""

import re
from typing import Any

from trainer_core.datasets.json_text import read_json
from trainer_core.datasets.shape import Row


def text_of(row: Row, column: str) -> str:
    """The text of a column.

    Raises:
        ValueError: it is missing, not text, or blank.
    """
    if column not in row:
        raise ValueError(f"The row has no `{column}`, as the rows before it have.")
    value = row[column]
    if not isinstance(value, str):
        raise ValueError(f"`{column}` must be a string, not {json_type(value)}.")
    if not value.strip():
        raise ValueError(f"`{column}` is empty.")
    return value


def gold_of(row: Row, column: str) -> str | list[str]:
    """A gold answer: a string, a number as text, or a list of accepted answers, which stays a list.

    Raises:
        ValueError: it is missing, empty, or something else.
    """
    if column not in row:
        raise ValueError(f"The row has no `{column}`, as the rows before it have.")
    value = row[column]
    if not isinstance(value, list):
        return _gold(value, f"`{column}`")
    if not value:
        raise ValueError(f"`{column}` is a list without an answer.")
    return [_gold(one, f"`{column}[{place}]`") for place, one in enumerate(value)]


def _gold(value: Any, name: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"{name} must be a string or a number, not {json_type(value)}.")
    if isinstance(value, str) and not value.strip():
        raise ValueError(f"{name} is empty.")
    return value.strip() if isinstance(value, str) else str(value)


def is_gold(value: Any) -> bool:
    """Whether ``gold_of`` accepts a value."""
    if isinstance(value, list):
        return bool(value) and all(not isinstance(one, list) and is_gold(one) for one in value)
    return isinstance(value, str | int | float) and not isinstance(value, bool) and bool(str(value).strip())


_THOUSANDS = re.compile(r"[-+−]?\$?(?:(?!0)\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|[-+−]?\$?\.\d+")


def without_commas(gold: str) -> str:
    """A number without the commas of its thousands and without a dollar sign; any other text, such as 1,2, as it
    is."""
    return gold.replace(",", "").replace("$", "") if _THOUSANDS.fullmatch(gold) else gold


def texts_of(row: Row, column: str) -> list[str]:
    """A column that lists at least one text. Raises ValueError."""
    value = row.get(column)
    if not isinstance(value, list) or not value or not all(isinstance(text, str) for text in value):
        raise ValueError(f"`{column}` must be a list of at least one string.")
    return value


def list_in(row: Row, column: str) -> list[Any]:
    """A list, or JSON text that holds one. Raises ValueError."""
    value = row.get(column)
    if isinstance(value, str):
        try:
            value = read_json(value)
        except ValueError as error:
            raise ValueError(f"`{column}` must be a chat, and is text: it {error}.") from error
    if not isinstance(value, list):
        raise ValueError(f"`{column}` must be a list of messages, not {json_type(value)}.")
    return value


def is_chat(value: Any) -> bool:
    """Whether a value is a list of messages, or JSON text that looks like one."""
    if isinstance(value, str):
        return value.lstrip().startswith("[{")
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def is_own(row: Row) -> bool:
    """Whether a row can be stored as it is: a prompt that is text, or messages that are a list."""
    if "prompt" in row:
        return "messages" not in row and isinstance(row["prompt"], str)
    return isinstance(row.get("messages"), list)


def asked(question: str) -> list[dict[str, str]]:
    """A chat in which the user asks the question."""
    return [{"role": "user", "content": question}]


def with_columns(row: Row, **made: Any) -> Row:
    """A copy of the row with the columns in ``made`` first."""
    return {**made, **{name: value for name, value in row.items() if name not in made}}


def renamed_to_source(row: Row, *columns: str) -> Row:
    """A copy of the row with some columns renamed to ``source_…``, since new columns use their names."""
    return {f"source_{name}" if name in columns else name: value for name, value in row.items()}


def without(row: Row, *columns: str) -> Row:
    """A copy of the row without some columns."""
    return {name: value for name, value in row.items() if name not in columns}


def json_type(value: Any) -> str:
    """Name of a value's JSON type."""
    return _TYPES.get(type(value), "object")


_TYPES = {
    type(None): "null",
    bool: "boolean",
    int: "number",
    float: "number",
    str: "string",
    list: "array",
}
