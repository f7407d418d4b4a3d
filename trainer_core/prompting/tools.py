"""Tools of a row: definitions of functions that the chat template shows to the policy."""

import json
from collections.abc import Mapping
from typing import Any

COLUMN = "tools"


def tools_of(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The definitions in the row's ``tools``: a list of objects, or JSON text of one, as Parquet files often hold it.

    Empty if the row has none, or if the column holds something else, such as the names of tools.
    """
    value = row.get(COLUMN)
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return []
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        return []
    return value
