"""Columns of stored rows. Their JSON texts are created for a whole column at a time."""

import math
from collections.abc import Iterable
from typing import Any, cast

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from dressage.datasets.files.findings import EXACT
from trainer_core.datasets.control_tokens import FOLLOWING, PATTERN
from trainer_core.datasets.fields import json_type
from trainer_core.datasets.invisible import is_blank

_MAX_DEPTH = 16
_encode = msgspec.json.Encoder().encode_lines
_encode_sorted = msgspec.json.Encoder(order="sorted").encode_lines


class StoredColumn:
    """Values of one column. ``plain`` and ``sorted`` are their JSON texts, binary of shape [rows]."""

    def __init__(self, values: list[Any]) -> None:
        self.values = values
        self._types = set(map(type, values))
        self._plain: pa.Array | None = None

    @property
    def json_types(self) -> set[str]:
        """Names of the JSON types of the values."""
        return {"array" if kind is list else "object" if kind is dict else json_type(kind()) for kind in self._types}

    @property
    def is_text(self) -> bool:
        """Whether all values are texts."""
        return self._types == {str}

    @property
    def all_seen(self) -> bool:
        """Whether all values are texts with at least one visible character."""
        if not self.is_text:
            return False
        # Most texts start with a visible character. If one does not, all are examined. The first byte of a text follows
        # the opening quote.
        _, offsets, signs = self.plain.buffers()
        first = np.frombuffer(offsets, np.int32)[: len(self.values)] + 1
        return bool(_PLAINLY_SEEN[np.frombuffer(signs, np.uint8)[first]].all()) or not any(map(is_blank, self.values))

    @property
    def plain(self) -> pa.Array:
        """JSON texts with keys in the order of the rows."""
        if self._plain is None:
            if float in self._types:
                self._plain = pa.array([*map(_text_of_flat, self.values)], pa.binary())
            else:
                self._plain = _lines(_encode(self.values))
        return self._plain

    @property
    def sorted(self) -> pa.Array:
        """JSON texts with sorted keys."""
        return _lines(_encode_sorted(self.values)) if self._types & {list, dict} else self.plain

    def is_sound(self) -> bool:
        """Whether the values are regular: no control tokens, and no numbers that are large or not finite."""
        texts: Iterable[str] = ()
        if self.is_text:
            texts = self.values
        elif self._types <= _FLAT:
            if not all(_is_sound_number(value) for value in self.values if isinstance(value, int | float)):
                return False
            texts = (value for value in self.values if type(value) is str)
        elif not self._types <= _NESTED:
            return False
        else:
            found: list[str] = []
            if not all(gather_texts(value, found) for value in self.values):
                return False
            texts = found
        return not may_have_tokens("\n".join(texts))


class AskedColumn(StoredColumn):
    """Chats that consist of one user message: ``[{"role": "user", "content": question}]``."""

    def __init__(self, questions: StoredColumn) -> None:
        super().__init__([])
        self._types = {list}
        self._questions = questions

    @property
    def plain(self) -> pa.Array:
        return joined(b'[{"role":"user","content":', self._questions.plain, b"}]")

    @property
    def sorted(self) -> pa.Array:
        return joined(b'[{"content":', self._questions.plain, b',"role":"user"}]')

    def is_sound(self) -> bool:
        """Whether the questions are regular; they are a column as well."""
        return True


def _one_of(signs: bytes) -> NDArray[np.bool_]:
    """Lookup table: whether a byte is one of these."""
    return np.isin(np.arange(256), [*signs])


_FOLLOWING = {ord("<"): _one_of(FOLLOWING["<"]), ord("["): _one_of(FOLLOWING["["])}
_PLAINLY_SEEN = _one_of(bytes(range(ord("!"), ord("~") + 1)).translate(None, b'"\\'))
"""Characters that are visible in JSON texts, except the closing quote and the backslash that begins an escape."""
_FLAT = {str, int, float, bool, type(None)}
_NESTED = {list, dict, type(None)}


def joined(*parts: bytes | pa.Array) -> pa.Array:
    """Concatenate the texts of all rows with parts that all rows share."""
    scalars = [pa.scalar(part, pa.binary()) if isinstance(part, bytes) else part for part in parts]
    return pc.binary_join_element_wise(*scalars, pa.scalar(b"", pa.binary()))


def may_have_tokens(text: str) -> bool:
    """Whether a text may contain something that looks like a control token."""
    if "<" not in text and "[" not in text:
        return False
    # Texts with many brackets, such as GSM8K's, rarely contain one that begins a token. This test is much faster.
    signs = np.frombuffer(text.encode() + b"\0", np.uint8)
    if not any(_FOLLOWING[opened][signs[np.flatnonzero(signs == opened) + 1]].any() for opened in _FOLLOWING):
        return False
    return cast(bool, pc.match_substring_regex(pa.scalar(text, pa.large_string()), PATTERN).as_py())


def _lines(texts: bytes) -> pa.Array:
    lines = texts.split(b"\n")
    lines.pop()  # after the last line end
    return pa.array(lines, pa.binary())


def _text_of_flat(value: Any) -> bytes:
    # Use Python's float format, which differs from that of the other encoder.
    return float.__repr__(value).encode() if type(value) is float else _encode([value])[:-1]


def _is_sound_number(value: float) -> bool:
    return math.isfinite(value) if type(value) is float else -EXACT <= value <= EXACT


def gather_texts(value: Any, texts: list[str], depth: int = _MAX_DEPTH) -> bool:
    """Collect the texts inside a value. Returns whether the rest is regular and contains no floats."""
    kind = type(value)
    if kind is str:
        texts.append(value)
        return True
    if kind is list or kind is dict:
        inner = value if kind is list else value.values()
        return depth > 0 and all(gather_texts(one, texts, depth - 1) for one in inner)
    return value is None or kind is bool or (kind is int and -EXACT <= value <= EXACT)
