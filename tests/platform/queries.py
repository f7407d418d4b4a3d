"""Queries that no operation takes, for the tests that walk all of them."""

from typing import Any

from rest_framework.test import APIClient

SENSELESS = ("", "\0", "9" * 4300, "0" * 4300)
"""No parameter of any type takes these."""
NOT_OF_THE_TYPE = ("sideways", "nan", "inf", "1e999", "٣", "1_0", "-1e400", " 1", "[]")
"""Nothing but text takes these."""


def check_queries(client: APIClient, path: str, operation: dict[str, Any], needed: dict[str, str]) -> int:
    """Ask an operation in ways that it must refuse, saying which parameter is at fault; gives how many.

    Args:
        client: someone who may use it.
        path: the address, with real ids.
        operation: what the OpenAPI document says of it.
        needed: parameters without which it would refuse anyway.
    """
    assert client.get(path, needed).status_code == 200, path
    assert client.head(path, needed).status_code == 200, path
    declared = [one for one in operation.get("parameters", []) if one["in"] == "query"]
    asked: list[tuple[str, Any]] = [("no_such_parameter", "1"), ("fields", ""), ("Limit", "1")]
    for parameter in declared:
        name, schema = parameter["name"], parameter["schema"]
        typed = schema["type"] != "string" or "enum" in schema
        asked += [(name, value) for value in (*SENSELESS, *(NOT_OF_THE_TYPE if typed else ()))]
        asked.append((name, [schema.get("default", "1"), schema.get("default", "1")]))
        if schema["type"] == "integer":
            asked += [(name, str(schema["minimum"] - 1)), (name, f"000{schema['maximum'] + 1}")]
    for name, value in asked:
        answer = client.get(path, {**needed, name: value})
        if value == "\0":  # no part of any request may hold one: the middleware refuses it before the view is known
            assert answer.status_code == 400, (path, name)
            continue
        assert answer.status_code == 422, (path, name, str(value)[:40], answer.status_code)
        assert answer.json()["error"]["param"] == name, (path, name, str(value)[:40])
        assert name in answer.json()["detail"]
    return len(asked)
