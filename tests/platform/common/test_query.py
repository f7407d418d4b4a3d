"""What the parameters of a query take and what they do not."""

import json
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from rest_framework.test import APIClient

from dressage.common.api.query import Time, Unfit
from tests.platform.openapi import DOCUMENT


def test_a_moment_is_read_as_utc() -> None:
    read = Time(name="since").read
    assert read("2026-11-22T12:00:00Z") == datetime(2026, 11, 22, 12, tzinfo=UTC)
    # PostgreSQL refuses such an offset: the moment itself is fine.
    far = read("4755-02-23T02:40:52.4+17:29")
    assert (far.isoformat(), far.tzinfo) == ("4755-02-22T09:11:52.400000+00:00", UTC)


@pytest.mark.parametrize(
    "text", ["", "2026-11-22", "2026-11-22T12:00:00", "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00", "now"]
)
def test_what_is_no_moment_is_refused(text: str) -> None:
    with pytest.raises(Unfit, match="a time with its offset"):
        Time(name="since").read(text)


def test_no_parameter_of_a_framework_acts(api: Callable[..., APIClient]) -> None:
    """Django REST framework would choose a renderer by ``format``, and answer 404 to a name that none has."""
    paths = [
        path
        for path, operations in json.loads(DOCUMENT.read_text())["paths"].items()
        if "get" in operations and "{" not in path and operations["get"].get("security") != [{}]
    ]
    assert len(paths) > 20
    client = api("admin")
    for path in paths:
        response = client.get(path, {"format": "csv"})
        assert (path, response.status_code) == (path, 422)
        assert "/format" in [error["pointer"] for error in response.json()["errors"]], path
