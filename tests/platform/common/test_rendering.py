"""JSON of answers: what REST framework would have written, but quicker."""

import json
import math
from datetime import UTC, datetime
from typing import Any

import pytest
from rest_framework import serializers
from rest_framework.renderers import JSONRenderer

from dressage.common.api.rendering import AnswerRenderer
from dressage.common.roles import Role


class Line(serializers.Serializer):
    name = serializers.CharField()
    at = serializers.DateTimeField()


MOMENT = datetime(2026, 11, 22, 12, 30, 0, 120000, tzinfo=UTC)
SAME = [
    {"a": [1, 2.5, -0.0, 1e-7, 1e300, 5e-324, 10**30, True, None], "b": {}, "c": []},
    {"text": 'é "quoted" \\ / \u2028 \x1f \x7f 🐎', "words": ["NaN", "Infinity", "-Infinity"]},
    [MOMENT, MOMENT.replace(microsecond=0), MOMENT.date(), Role.VIEWER, (1, 2)],
    {1: "a key that is no text"},
    Line({"name": "x", "at": MOMENT}).data,
    Line([{"name": "x", "at": MOMENT}], many=True).data,
]


@pytest.mark.parametrize("data", SAME, ids=range(len(SAME)))
def test_it_says_the_same(data: Any) -> None:
    assert json.loads(AnswerRenderer().render(data)) == json.loads(JSONRenderer().render(data))


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_does_not_know_are_refused(number: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        AnswerRenderer().render({"value": [number]})


def test_nothing_is_nothing_and_indents_are_kept() -> None:
    assert AnswerRenderer().render(None) == b""
    assert AnswerRenderer().render({"a": 1}, "application/json; indent=2") == b'{\n  "a": 1\n}'
