"""The OpenAPI component of any JSON value, so that generated clients have one type for it."""

from copy import deepcopy
from typing import Any

from drf_spectacular.plumbing import ComponentRegistry, ResolvedComponent

JSON_REFERENCE = {"$ref": "#/components/schemas/Json"}
_JSON: dict[str, Any] = {
    "description": "Any JSON value.",
    "oneOf": [
        {"type": "null"},
        {"type": "boolean"},
        {"type": "number"},
        {"type": "string"},
        {"type": "array", "items": JSON_REFERENCE},
        {"type": "object", "additionalProperties": JSON_REFERENCE},
    ],
}


def register_json(registry: ComponentRegistry) -> None:
    """Add the component ``Json`` to the document if it is missing."""
    component = ResolvedComponent(name="Json", type=ResolvedComponent.SCHEMA, object="Json", schema=deepcopy(_JSON))
    registry.register_on_missing(component)
