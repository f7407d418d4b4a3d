"""The quick ways of reading and writing rows against the slow ones: the same values, texts and ids, byte by byte."""

import json
import random
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dressage.datasets.files.json_rows import QuickReader, _Nan, parse_piece
from dressage.datasets.files.reading import UploadedRows
from dressage.datasets.limits import MAX_DEPTH
from dressage.datasets.rows.text import both_texts_of, sorted_text_of, text_of
from tests.support.about import PLATFORM
from tests.support.hostile_files import hostile_files

PIECES = [
    b'{"a": 1}',
    b'{"a": 1, "a": 1}', b'{"a": {"b": 1, "b": 2}}', b'{"a": NaN}', b'{"a": [Infinity]}', b'{"a": -Infinity}',
    b'{"a": 1e999}', b'{"a": -1e999}', b'{"a": 1e308}', b'{"a": 1E+5}', b'{"a": -0.0, "b": -0}', b'{"a": 0.1000}',
    b'{"a": 9007199254740992}', b'{"a": 9007199254740993}', b'{"a": -9007199254740993}', b'{"a": 1' + b"0" * 299 + b"}",
    b'{"a": 1' + b"0" * 300 + b"}", b'{"a": 1' + b"0" * 5000 + b"}", b'{"a": "\\u0000"}', b'{"\\u0000": 1}',
    b'{"a": "\\ud800"}',
    b'{"a": "\\ud83d\\ude00"}', b'{"a": "\\ude00\\ud83d"}', b'{"\\ud800": 1}', b'{"a": "\\\\u0000"}',
    b'{"a": "\x00"}', b'{"a": "\n"}', b'{"a": "\xed\xa0\x80"}', b'{"a": "\xff"}', b'\xef\xbb\xbf{"a": 1}',
    b" \t {\"a\": 1} \r", b'{"a": 1} x', b'{"a": 1}{"b": 2}', b"[]", b"1", b'"a"', b"null", b"", b"{", b"{}", b'{"a"}',
    b"{'a': 1}", b'{"a": 01}', b'{"a": .5}', b'{"a": +1}', b'{"a": tru}', b'{"": ""}', b'{"a": "\xc2\xa0\xe2\x80\xa8"}',
    *(b'{"a": ' + b"[" * depth + b"]" * depth + b"}" for depth in (MAX_DEPTH - 2, MAX_DEPTH - 1, MAX_DEPTH, 9_999)),
    b'{"a": ' + b'{"b":' * MAX_DEPTH + b"1" + b"}" * MAX_DEPTH + b"}", b'{"a": "' + b"[{" * 60 + b'"}',
    b'{"a": [' + b"[]," * 60 + b"[]]}", b'{"a": ' + b'[{"b": ' * 20 + b"1" + b"}]" * 20 + b"}",
]  # fmt: skip


def slowly(piece: bytes) -> Any:
    """The value and whether it holds what the quick way must leave alone, or the fault."""
    nan = _Nan()
    try:
        return repr(parse_piece(piece, "line", nan)), nan.found
    except ValueError as error:
        return str(error)


def compare(piece: bytes) -> None:
    quick = QuickReader().read(piece)
    if quick is not None:
        assert slowly(piece) == (repr(quick), False), piece[:80]


def lines() -> Iterator[bytes]:
    for file in hostile_files():
        yield from file.content.splitlines()[:50]


@pytest.mark.parametrize("piece", PIECES, ids=lambda piece: repr(piece[:30]))
def test_what_is_read_quickly_is_what_the_slow_way_reads(piece: bytes) -> None:
    compare(piece)


@pytest.mark.expensive(2, "reads many or large files", about=PLATFORM)
def test_lines_of_hostile_files_and_their_mutations() -> None:
    chance = random.Random(7)
    for line in [*lines(), *PIECES]:
        compare(line[:5000])
        for _ in range(3):
            mutated = bytearray(line[:300])
            if mutated:
                mutated[chance.randrange(len(mutated))] = chance.choice(b'"\\{}[]:,0129eE+-.uNaI \x00\xff')
            compare(bytes(mutated))


def test_whole_numbers_beyond_2_53_are_told_also_of_text_that_a_shape_reads() -> None:
    large = (1 << 53) + 1
    for info in ({"n": large}, json.dumps({"n": large})):
        row = {"question": "1+1=", "answer": "2", "info": info}
        rows = UploadedRows(BytesIO(json.dumps(row).encode()))
        assert [one.data["info"] for one in rows] == [{"n": large}]
        assert [warning["code"] for warning in rows.findings.warnings()] == ["large_integers"]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=20) | st.dictionaries(st.text(), inner, max_size=20),
    max_leaves=40,
)


@pytest.mark.expensive(8, "reads many or large files", about=PLATFORM)
@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(st.dictionaries(st.text(), VALUES, max_size=6))
def test_texts_and_ids_are_those_of_json(row: dict[str, Any]) -> None:
    one, other = both_texts_of(row)
    assert one == text_of(row) == json.dumps(row, ensure_ascii=False, separators=(",", ":"))
    assert other == sorted_text_of(row)
    assert other == json.dumps(row, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def test_texts_of_wide_and_nested_rows() -> None:
    row = {
        "b": [{"z": 1, "a": [{"y": "é", "x": "é"}] * 3}] * 20,
        "a": {str(n): {"q": n, "p": "é\n\u2028"} for n in range(30)},
    }
    assert both_texts_of(row) == (text_of(row), sorted_text_of(row))
