"""JSON text of rows: as stored, and with sorted keys for the row's id.

Both contain the same strings, which are most of a row, so each string is encoded only once.
"""

import json
from functools import lru_cache
from json.encoder import encode_basestring
from typing import Any

_FEW = 16
"""Maximum number of members for writing a value piece by piece. Beyond that the C encoder is faster."""
_plain = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_sorted = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode


def text_of(data: Any) -> str:
    """The row's JSON as stored."""
    return _plain(data)


def sorted_text_of(data: Any) -> str:
    """The row's JSON with sorted keys."""
    return _sorted(data)


def both_texts_of(data: dict[str, Any]) -> tuple[str, str]:
    """``(text_of(data), sorted_text_of(data))`` for a row whose numbers are finite."""
    return _object(data, {})


def _value(value: Any, known: dict[str, str]) -> tuple[str, str]:
    kind = type(value)
    if kind is str:
        text = known.get(value) or known.setdefault(value, encode_basestring(value))
        return text, text
    if kind is dict and len(value) <= _FEW:
        return _object(value, known)
    if kind is list and len(value) <= _FEW:
        pairs = [_value(one, known) for one in value]
        return f"[{','.join(plain for plain, _ in pairs)}]", f"[{','.join(text for _, text in pairs)}]"
    plain = _plain(value)
    return plain, _sorted(value) if "{" in plain else plain


def _object(data: dict[str, Any], known: dict[str, str]) -> tuple[str, str]:
    plain, by_name = [], {}
    for name, value in data.items():
        if type(value) is str:
            text = known.get(value)
            if text is None:
                text = known[value] = encode_basestring(value)
            one = by_name[name] = f"{_key(name)}:{text}"
        else:
            text, other = _value(value, known)
            key = _key(name)
            one, by_name[name] = f"{key}:{text}", f"{key}:{other}"
        plain.append(one)
    return f"{{{','.join(plain)}}}", f"{{{','.join([by_name[name] for name in sorted(by_name)])}}}"


_key = lru_cache(1_000)(encode_basestring)
