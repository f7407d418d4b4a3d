"""Reads the gold answers of a dataset row."""

import unicodedata
from collections.abc import Mapping
from typing import Any

from trainer_core.rewards.errors import GraderError

_UNSEEN = {"Zs", "Zl", "Zp", "Cc", "Cf"}
_BLANK = "\u115f\u1160\u2800\u3164\uffa0"
"""Letters and signs without any ink."""


def reference_text(item: Mapping[str, Any], name: str) -> str:
    """The field ``name`` of ``item`` as text.

    Raises:
        GraderError: the row has no such field, or it holds neither text nor a number that can be written out, or
            nothing that can be seen: an empty completion must not equal it.
    """
    if name not in item or item[name] is None:
        raise GraderError(f"the row has no field {name!r} to compare with")
    value = item[name]
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise GraderError(f"the field {name!r} holds {type(value).__name__}, not text or a number")
    try:
        text = str(value)
    except ValueError as error:
        # Python writes out no int above 4300 digits.
        raise GraderError(f"the field {name!r} cannot be read: {error}") from error
    if is_blank(text):
        raise GraderError(f"the field {name!r} is empty: there is no answer to compare with")
    return text


def reference_texts(item: Mapping[str, Any], name: str) -> list[str]:
    """The gold answers in the field ``name`` of ``item``: one, or a list of accepted ones.

    Raises:
        GraderError: as ``reference_text`` does, for any of them; or the list is empty.
    """
    value = item.get(name)
    if not isinstance(value, list | tuple):
        return [reference_text(item, name)]
    if not value:
        raise GraderError(f"the field {name!r} lists no gold answer")
    return [reference_text({name: gold}, name) for gold in value]


def is_blank(text: str) -> bool:
    """Whether ``text`` holds nothing but white space and characters that are not shown."""
    return all(unicodedata.category(sign) in _UNSEEN or sign in _BLANK for sign in text)
