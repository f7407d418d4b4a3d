"""JSON that breaks things later is refused at the door."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.test import APIClient

from dressage.common.api.strict_json import check, loads
from tests.support.about import PLATFORM


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": NaN}', "NaN is not JSON."),
        ('{"a": -Infinity}', "-Infinity is not JSON."),
        ('{"a": 1e999}', "Numbers must be finite."),
        ('{"a": 1, "b": 2, "a": 3}', "The key 'a' appears twice."),
        ('{"a": "x\\u0000y"}', "NUL"),
        ('{"x\\u0000y": 1}', "NUL"),
        ('{"a": "\\ud83d"}', "lone surrogates"),
        ("[" * 65 + "]" * 65, "deeper than 64"),
        ("[" * 100_000 + "]" * 100_000, "deeper than 64"),
        ("1" * 5000, "more than 300 digits"),
    ],
)
def test_refusals(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message.replace(".", r"\.")):
        loads(text)


@pytest.mark.parametrize("text", ['{"a": "\\ud83d\\udc34"}', "[" * 64 + "]" * 64, '"\\\\u0000"', "null", "-1.5e-3"])
def test_fine(text: str) -> None:
    assert loads(text) == json.loads(text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("abc"), inner),
    max_leaves=20,
)  # fmt: skip


@pytest.mark.expensive(2, "checks hundreds of documents", about=PLATFORM)
@given(JSON)
def test_all_that_can_be_stored_passes(value: object) -> None:
    check(value)
    assert loads(json.dumps(value)) == value


@pytest.mark.parametrize(
    "body",
    ["{", "[" * 100_000, '{"email": NaN}', '{"email": "a\\u0000b", "password": "x"}', b"\xff\xfe", '{"a": "\\ud83d"}'],
)
def test_over_http(anonymous: APIClient, db: None, body: str | bytes) -> None:
    response = anonymous.post("/api/v1/session", body, content_type="application/json")
    assert response.status_code == 400
    assert response["Content-Type"] == "application/problem+json"
    assert response.json()["error"]["code"] == "parse_error"
