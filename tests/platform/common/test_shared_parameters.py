"""What operations of the OpenAPI document have in common is declared once."""

from typing import Any

from dressage.common.openapi.shared_parameters import share_parameters
from tests.platform.openapi import document


def limit(most: int) -> dict[str, Any]:
    return {"in": "query", "name": "limit", "schema": {"type": "integer", "maximum": most}}


def test_the_declaration_that_most_operations_repeat_is_shared() -> None:
    only = {"in": "query", "name": "only", "schema": {"type": "string"}}
    limits = [limit(9), limit(200), limit(200)]
    paths = {f"/{n}": {"get": {"parameters": [only | {"name": f"only{n}"}, one]}} for n, one in enumerate(limits)}
    given = {"paths": {**paths, "/none": {"get": {}}}, "components": {"schemas": {}}}
    found = share_parameters(given)
    assert found["components"] == {"parameters": {"limit": limit(200)}, "schemas": {}}
    reference = {"$ref": "#/components/parameters/limit"}
    assert [found["paths"][f"/{n}"]["get"]["parameters"][1] for n in range(3)] == [limit(9), reference, reference]
    assert found["paths"]["/0"]["get"]["parameters"][0]["name"] == "only0"
    assert found["paths"]["/none"]["get"] == {}


def test_problems_and_specs_are_declared_once() -> None:
    components = document()["components"]
    for operations in document()["paths"].values():
        for operation in operations.values():
            for status, response in operation["responses"].items():
                if status >= "400":
                    assert response == {"$ref": f"#/components/responses/Problem{status}"}
    assert "RunSpec" in components["schemas"] and "RunSpecRequest" not in components["schemas"]
