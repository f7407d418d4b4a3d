"""JSON Schemas that would take long: refused, or applied in another way with the same verdict."""

import json
import random
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from pydantic import ValidationError
from referencing import Resource

from tests.support.about import LEARNING
from tests.support.hostile_inputs import chain
from trainer_core.rewards import Sample
from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.graders import JsonSchemaGrader
from trainer_core.rewards.graders.text.schema_references import check_references
from trainer_core.rewards.graders.text.schema_validator import fits

TREE = {
    "$ref": "#/$defs/tree",
    "$defs": {"tree": {"properties": {side: {"$ref": "#/$defs/tree"} for side in "lr"}, "additionalProperties": False}},
}


def grade(schema: dict[str, Any], text: str) -> float:
    return JsonSchemaGrader(json_schema=schema).grade(Sample(text, None, text, None), {})


@pytest.mark.parametrize(
    ("schema", "pointer"),
    [
        (chain(18), "/$ref: '#/$defs/d0' leads"),
        (chain(12), "/$ref: '#/$defs/d0' leads"),
        ({"properties": {"x": chain(18)["$defs"]["d0"]}, "$defs": chain(18)["$defs"]}, "/properties/x/allOf/1/$ref"),
        ({"items": {"$dynamicRef": "#/$defs/d0"}, "$defs": chain(18)["$defs"]}, "/items/$dynamicRef"),
        ({"$ref": "#top", "$defs": {**chain(18)["$defs"], "t": {"$anchor": "top", "$ref": "#/$defs/d0"}}}, "/$ref"),
    ],
)
def test_references_that_fan_out_are_refused_with_their_place(schema: dict[str, Any], pointer: str) -> None:
    with pytest.raises(ValidationError) as refused:
        JsonSchemaGrader(json_schema=schema)
    (error,) = refused.value.errors()
    assert pointer in error["msg"]
    assert error["msg"].endswith("to more than 10000 subschemas once all references are written out")


def visits_of(check: Callable[[], object]) -> int:
    """Subschemas that ``check`` looks into for names: a measure of work that the machine's load does not change."""
    visits = 0

    def subresources(resource: Resource[Any]) -> Iterable[Resource[Any]]:
        nonlocal visits
        for one in within(resource):
            visits += 1
            yield one

    within = Resource.subresources
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Resource, "subresources", subresources)
        check()
    return visits


def anchored(count: int, reference: str = "#a") -> dict[str, Any]:
    """A schema with so many references to one anchor."""
    properties = {str(n): {"$ref": reference} for n in range(count)}
    return {"properties": properties, "$defs": {"a": {"$anchor": "a", "type": "null"}}}


@pytest.mark.parametrize("reference", ["#a", "#missing", "#/$defs/a", "#/$defs/missing"])
def test_references_cost_the_same_each_wherever_they_lead(reference: str) -> None:
    few, many = (visits_of(lambda n=n: check_references(anchored(n, reference))) for n in (200, 2000))  # type: ignore[misc]
    assert (few, many) == (201, 2001)


def test_what_is_too_large_is_refused_at_once() -> None:
    many = anchored(20_000)
    refusal = r"^it has more than 10000 subschemas once all references are written out$"

    def refused() -> None:
        with pytest.raises(ValueError, match=refusal):
            check_references(many)

    assert visits_of(refused) == 20_001
    for schema, told in (
        (many, "it has 20004 objects and truth values; a schema may have 20000"),
        ({"allOf": [True] * 20_000}, "it has 20001 objects and truth values; a schema may have 20000"),
        ({"$ref": "#" + "/x" * 100_001}, "its references have more than 100000 segments in all"),
    ):
        with pytest.raises(ValidationError) as found:
            JsonSchemaGrader(json_schema=schema)
        assert found.value.errors()[0]["msg"] == f"Value error, {told}"


def test_anchors_lead_where_they_should() -> None:
    assert [grade(anchored(3), text) for text in ('{"1": null}', '{"1": 1}')] == [1.0, 0.0]
    inner = {"$id": "http://x.test/inner", "$anchor": "a", "type": "integer"}
    nested = {"$id": "http://x.test/", "$defs": {"a": {"$anchor": "a", "type": "null"}, "b": inner}, "$ref": "#a"}
    assert [grade(nested, text) for text in ("null", "1")] == [1.0, 0.0]
    with pytest.raises(GraderError, match="the schema cannot be applied"):
        grade(anchored(1, "#missing"), '{"0": null}')


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"properties": 5, "$ref": "#a"}, "not a JSON Schema: 5 is not of type 'object'"),
        ({"$id": 5, "$ref": "#a"}, "not a JSON Schema: 5 is not of type 'string'"),
        ({"$defs": {"a": {"$anchor": []}}, "$ref": "#a"}, "not a JSON Schema: [] is not of type 'string'"),
        ({"$ref": "#/x", "x": {"allOf": [{"$id": 5}]}}, "its references cannot be followed: 'int' object has no"),
        (
            {"$defs": {"a": {"$schema": "http://json-schema.org/draft-04/schema#", "id": 5}}},
            "its references cannot be followed: 'int' object has no",
        ),
    ],
)
def test_what_is_no_schema_is_refused_in_words(schema: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError) as refused:
        JsonSchemaGrader(json_schema=schema)
    assert refused.value.errors()[0]["msg"].startswith(f"Value error, {told}")


@pytest.mark.expensive(2, "starts grading processes", about=LEARNING)
def test_what_refers_to_itself_or_often_is_no_fan_out() -> None:
    assert grade(TREE, '{"l": {"r": {}}, "r": {}}') == 1.0
    assert grade(TREE, '{"l": {"r": {"x": 1}}}') == 0.0
    mutual = {f"d{n}": {"properties": {str(m): {"$ref": f"#/$defs/d{m}"} for m in range(30)}} for n in range(30)}
    assert grade({"$ref": "#/$defs/d0", "$defs": mutual}, '{"1": {"2": {}}}') == 1.0
    often = {"properties": {str(n): {"$ref": "#/$defs/a"} for n in range(2000)}, "$defs": {"a": {"type": "null"}}}
    assert [grade(often, text) for text in ('{"7": null}', '{"7": 1}')] == [1.0, 0.0]


def test_a_reference_that_leads_back_to_itself_is_an_error_and_no_zero() -> None:
    for schema in ({"$ref": "#"}, {"unevaluatedProperties": False, "$ref": "#"}):
        with pytest.raises(GraderError, match="back to itself without end"):
            grade(schema, "{}")


def test_a_schema_that_is_nested_too_deeply_is_refused() -> None:
    schema: dict[str, Any] = {}
    for _ in range(900):
        schema = {"not": schema}
    with pytest.raises(ValidationError, match="the schema is nested too deeply"):
        JsonSchemaGrader(json_schema=schema)


@pytest.mark.parametrize(
    ("text", "unique"),
    [
        ("[1, 1.0]", 0.0),
        ("[1, true]", 1.0),
        ('[0, false, null, ""]', 1.0),
        ('[{"a": 1, "b": 2}, {"b": 2, "a": 1.0}]', 0.0),
        ('[{"a": [1]}, {"a": [true]}]', 1.0),
        ("[[], {}]", 1.0),
        ("[[[]], [[]]]", 0.0),
    ],
)
def test_equal_is_what_json_schema_calls_equal(text: str, unique: float) -> None:
    assert grade({"uniqueItems": True}, text) == unique


def test_verdicts_are_the_librarys() -> None:
    """On random schemas with references that come to an end: the library has no other guard."""
    chance = random.Random(3)
    verdicts = set()
    for _ in range(1500):
        definitions = {"x": _schema(chance, "yz", 1), "y": _schema(chance, "z", 1), "z": _schema(chance, "", 1)}
        schema, value = {**_schema(chance, "xyz"), "$defs": definitions}, _value(chance)
        wanted = Draft202012Validator(schema).is_valid(value)
        assert fits(json.dumps(schema), value) == wanted, (schema, value)
        verdicts.add(wanted)
    assert verdicts == {True, False}


def _value(chance: random.Random, depth: int = 0) -> Any:
    match chance.randrange(7 if depth < 3 else 5):
        case 5:
            return [_value(chance, depth + 1) for _ in range(chance.randrange(4))]
        case 6:
            return {chance.choice("ab"): _value(chance, depth + 1) for _ in range(chance.randrange(3))}
        case kind:
            return [None, True, False, chance.choice([0, 1, 1.0, 2]), chance.choice(["a", "b", ""])][kind]


def _schema(chance: random.Random, known: str, depth: int = 0) -> dict[str, Any]:
    def sub() -> dict[str, Any]:
        return _schema(chance, known, depth + 1)

    makers = {
        "type": lambda: chance.choice(["array", "object", "string", "number", "boolean", "null"]),
        **({"$ref": lambda: "#/$defs/" + chance.choice(known)} if known else {}),
        "uniqueItems": lambda: True,
        "required": lambda: ["a"],
        "const": lambda: _value(chance, 2),
        "items": sub,
        "contains": sub,
        "not": sub,
        "properties": lambda: {chance.choice("ab"): sub()},
        "anyOf": lambda: [sub(), sub()],
        "allOf": lambda: [sub(), sub()],
        "oneOf": lambda: [sub(), sub()],
        "unevaluatedProperties": lambda: False,
    }
    chosen = list(makers) if depth < 4 else ["type", "uniqueItems", "required"]
    return {key: makers[key]() for key in chance.sample(chosen, chance.randrange(1, 3))}
