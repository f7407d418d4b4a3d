"""Checks answers against the OpenAPI document from which the console's client is written."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012
from rest_framework.response import Response

DOCUMENT = Path(__file__).parents[2] / "frontend" / "openapi.json"
"""``make lint`` compares it with what the platform's code says."""
_URI = "urn:dressage:openapi"


def check_answer(response: Response) -> None:
    """Compare a JSON answer of the API with what its operation declares for the status.

    Raises:
        AssertionError: the answer has another shape, or its status is not declared. The message names each place.
    """
    kind = response.headers.get("Content-Type", "").partition(";")[0]
    match = getattr(response, "resolver_match", None)
    if match is None or "json" not in kind:
        return
    path = "/" + match.route.replace("<str:", "{").replace("<int:", "{").replace("<", "{").replace(">", "}")
    method = response.wsgi_request.method.lower()
    operation = _document()["paths"].get(path, {}).get(method)
    if operation is None:
        return
    where = f"{method.upper()} {path} → {response.status_code}"
    content = operation["responses"].get(str(response.status_code), {}).get("content", {})
    if kind not in content:
        raise AssertionError(f"{where}: the OpenAPI document declares no {kind}")
    found = list(_validator(path, method, response.status_code, kind).iter_errors(response.json()))
    if found:
        faults = "\n".join(f"  {fault.json_path}: {fault.message[:300]}" for fault in found)
        raise AssertionError(f"{where} is not as the OpenAPI document says:\n{faults}")


@cache
def _document() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(DOCUMENT.read_text())
    return document


@cache
def _validator(path: str, method: str, status: int, kind: str) -> Draft202012Validator:
    registry = Registry().with_resource(_URI, Resource(contents=_document(), specification=DRAFT202012))
    parts = ("paths", path, method, "responses", str(status), "content", kind, "schema")
    pointer = "/".join(part.replace("~", "~0").replace("/", "~1") for part in parts)
    return Draft202012Validator({"$ref": f"{_URI}#/{pointer}"}, registry=registry)
