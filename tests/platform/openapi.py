"""Checks answers against the OpenAPI document from which the console's client is written."""

import json
from functools import cache, reduce
from operator import getitem
from pathlib import Path
from typing import Any
from urllib.parse import quote

from django.urls import Resolver404
from jsonschema_rs import Draft202012, Draft202012Validator, Registry, ValidationError
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
    place, declared = _resolved(("paths", path, method, "responses", status), operation["responses"].get(status, {}))
    if kind in declared.get("content", {}):
        schema = (*place, "content", kind, "schema")
    elif kind == PROBLEM and response.status_code >= 400:
        # Whatever an operation names: the body may be broken, the database away, and the platform at fault.
        schema = ("components", "schemas", "Problem")
    else:
        raise AssertionError(f"{where}: the OpenAPI document declares no {kind}")
    faults = "\n".join(_told(fault) for fault in _validator(schema).iter_errors(response.json()))
    if faults:
        raise AssertionError(f"{where} is not as the OpenAPI document says:\n{faults}")


@cache
def documented_paths() -> dict[str, Any]:
    """Operations of each path, with the parameters and responses that they refer to."""
    return {
        path: {method: _whole(operation) for method, operation in operations.items()}
        for path, operations in document()["paths"].items()
    }


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


def _whole(operation: dict[str, Any]) -> dict[str, Any]:
    return {
        **operation,
        "parameters": [_resolved((), one)[1] for one in operation.get("parameters", [])],
        "responses": {status: _resolved((), one)[1] for status, one in operation["responses"].items()},
    }


def _resolved(place: tuple[str, ...], node: dict[str, Any]) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The path to ``node`` in the document, and the node; of a reference, those of its target."""
    if "$ref" not in node:
        return place, node
    place = tuple(node["$ref"].removeprefix("#/").split("/"))
    return place, reduce(getitem, place, document())


@cache
def _registry() -> Registry:
    return Registry([(_URI, document())], draft=Draft202012)


@cache
def _validator(path: tuple[str, ...]) -> Draft202012Validator:
    """The validator of the schema that stands at ``path`` in the document."""
    pointer = "/".join(quote(part.replace("~", "~0").replace("/", "~1"), safe="~") for part in path)
    return Draft202012Validator({"$ref": f"{_URI}#/{pointer}"}, registry=_registry())


def _told(fault: ValidationError) -> str:
    """A line with the place of a fault in the answer, and what it is."""
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in fault.instance_path)
    return f"  ${place}: {fault.message[:300]}"
