"""Checks answers against the OpenAPI document from which the console's client is written."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from django.urls import Resolver404
from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012
from rest_framework.response import Response

DOCUMENT = Path(__file__).parents[2] / "frontend" / "openapi.json"
"""``test_documents.py`` compares it with what the platform's code says."""
PROBLEM = "application/problem+json"
_URI = "urn:dressage:openapi"


def check_answer(response: Response) -> None:
    """Compare a JSON answer of the API with what its operation declares for the status.

    Raises:
        AssertionError: the answer has another shape, or its status is not declared. The message names each place.
    """
    kind = response.headers.get("Content-Type", "").partition(";")[0]
    if "json" not in kind or response.streaming:
        return
    try:
        route = response.resolver_match.route
    except Resolver404:
        return
    path = "/" + route.replace("<str:", "{").replace("<int:", "{").replace("<", "{").replace(">", "}")
    method = response.wsgi_request.method.lower()
    operation = document()["paths"].get(path, {}).get(method)
    if operation is None:
        return
    where = f"{method.upper()} {path} → {response.status_code}"
    status = str(response.status_code)
    if kind in operation["responses"].get(status, {}).get("content", {}):
        schema = ("paths", path, method, "responses", status, "content", kind, "schema")
    elif kind == PROBLEM and response.status_code >= 400:
        # Whatever an operation names: the body may be broken, the database away, and the platform at fault.
        schema = ("components", "schemas", "Problem")
    else:
        raise AssertionError(f"{where}: the OpenAPI document declares no {kind}")
    found = list(_validator(schema).iter_errors(response.json()))
    if found:
        faults = "\n".join(f"  {fault.json_path}: {fault.message[:300]}" for fault in found)
        raise AssertionError(f"{where} is not as the OpenAPI document says:\n{faults}")


def documented_paths() -> dict[str, Any]:
    """Operations of each path."""
    paths: dict[str, Any] = document()["paths"]
    return paths


def check_declared(path: str, method: str, response: Any) -> None:
    """The document declares the answer's status and its content type; ``check_answer`` has seen to JSON itself."""
    declared = documented_paths()[path][method.lower()]["responses"][str(response.status_code)]
    if response.status_code == 204:
        assert not response.content
    else:
        assert response["Content-Type"] in declared["content"]


@cache
def document() -> dict[str, Any]:
    """The whole OpenAPI document."""
    return dict(json.loads(DOCUMENT.read_text()))


@cache
def _validator(path: tuple[str, ...]) -> Draft202012Validator:
    """The validator of the schema that stands at ``path`` in the document."""
    registry = Registry().with_resource(_URI, Resource(contents=document(), specification=DRAFT202012))
    pointer = "/".join(part.replace("~", "~0").replace("/", "~1") for part in path)
    return Draft202012Validator({"$ref": f"{_URI}#/{pointer}"}, registry=registry)
