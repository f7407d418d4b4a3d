"""Bodies with a slip of the pen, for the tests that walk all operations that write."""

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from typing import Any

MEMBER = "no_such_member"


def check_slips(
    document: Mapping[str, Any],
    operation: Mapping[str, Any],
    body: Any,
    call: Callable[[Any], Any],
    snapshot: Callable[[], Any],
) -> int:
    """Send a body with an unknown member in each of its objects; every one must be refused, by name. Gives how many.

    Args:
        document: the OpenAPI document.
        operation: what it says of the operation.
        body: one that would be taken; None where the operation takes none.
        call: sends a body, as somebody who may.
        snapshot: what must not change.
    """
    contents = operation.get("requestBody", {}).get("content", {})
    schemas = [content["schema"] for content in contents.values()]
    bodies = list(_slips(document, schemas[:1], body, "")) if schemas else [("", {MEMBER: 1})]
    assert bodies, "the operation's body has no object that is declared"
    for place, slipped in bodies:
        before = snapshot()
        response = call(slipped)
        assert response.status_code == 422, (place, response.content)
        faults = {fault["pointer"]: fault["detail"] for fault in response.json()["errors"]}
        assert MEMBER in faults[f"{place}/{MEMBER}"]
        assert MEMBER in response.json()["detail"]
        assert snapshot() == before
    return len(bodies)


def _slips(document: Any, schemas: list[Any], data: Any, place: str) -> Iterator[tuple[str, Any]]:
    """(pointer, body) with the unknown member at each object whose members are declared."""
    nodes = [node for schema in schemas for node in _variants(document, schema)]
    if isinstance(data, Mapping):
        declared = [node for node in nodes if "properties" in node]
        if declared:
            yield place, {**deepcopy(dict(data)), MEMBER: 1}
        for name, value in data.items():
            inner = [node["properties"][name] for node in declared if name in node["properties"]]
            inner += [n["additionalProperties"] for n in nodes if isinstance(n.get("additionalProperties"), Mapping)]
            for pointer, slipped in _slips(document, inner, value, f"{place}/{name}"):
                yield pointer, {**data, name: slipped}
    elif isinstance(data, list):
        inner = [node["items"] for node in nodes if isinstance(node.get("items"), Mapping)]
        for index, value in enumerate(data):
            for pointer, slipped in _slips(document, inner, value, f"{place}/{index}"):
                yield pointer, [*data[:index], slipped, *data[index + 1 :]]


def _variants(document: Any, schema: Any) -> Iterator[Any]:
    """The schema without references and unions."""
    if "$ref" in schema:
        yield from _variants(document, document["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
        return
    yield schema
    for union in ("anyOf", "oneOf", "allOf"):
        for variant in schema.get(union, ()):
            yield from _variants(document, variant)
