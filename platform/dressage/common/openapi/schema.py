"""OpenAPI: the problems that every operation may return, and the idempotency header."""

from typing import Any, cast

from drf_spectacular.drainage import get_override
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent
from drf_spectacular.utils import OpenApiParameter
from pydantic import BaseModel
from rest_framework.fields import _UnvalidatedField
from rest_framework.serializers import DictField, JSONField

from dressage.common.api.permissions import AllowAny, RoleByMethod
from dressage.common.api.query import NOTHING
from dressage.common.openapi import documents, pydantic_schema  # noqa: F401  (register themselves)
from dressage.common.openapi.json_component import JSON_REFERENCE, register_json
from dressage.common.openapi.serializers import ProblemSerializer, PydanticField

__all__ = ["ProblemAutoSchema", "PydanticField"]

_SCHEME = "apiToken"
"""Name of the security scheme of API tokens; see ``dressage.teams.schema``."""
_DESCRIPTIONS = {
    "400": "The request cannot be read: broken JSON, or a NUL character in the query.",
    "401": "Not signed in, or the token is not valid.",
    "403": "The role or the token's scopes do not allow this, or the CSRF token is missing.",
    "404": "Not found in this team.",
    "408": "The body stopped arriving.",
    "409": "The request conflicts with the current state.",
    "411": "A large body needs a Content-Length.",
    "413": "The body is too large.",
    "415": "A body of a media type that the operation does not accept.",
    "422": "The request is invalid; `errors` lists each fault.",
    "429": "Too many requests.",
    "503": "Too many such requests from all teams, or a part of the platform is unavailable; try again.",
}


class ProblemAutoSchema(AutoSchema):
    """Adds to each operation the problem responses that follow from its properties.

    A view adds its own with ``problem_statuses = {"POST": (409,)}``.
    """

    def get_override_parameters(self) -> list[Any]:
        parameters = list(super().get_override_parameters())
        declared = getattr(self.view, "queries", {}).get(self.method, NOTHING)
        parameters += [parameter.documented() for parameter in declared.parameters.values()]
        handler = getattr(self.view, self.method.lower(), None)
        if getattr(handler, "accepts_idempotency_key", False):
            parameters.append(
                OpenApiParameter(
                    "Idempotency-Key",
                    str,
                    OpenApiParameter.HEADER,
                    description="A retry with the same key gets the first response.",
                )
            )
        return parameters

    def get_auth(self) -> list[dict[str, Any]]:
        """The ways to sign in. Tokens are listed with the scope that the operation needs, or left out."""
        needed = self.view.needed_scope(self.method) if isinstance(self.view, RoleByMethod) else None
        ways = [{**way, _SCHEME: [needed.value]} if _SCHEME in way and needed else way for way in super().get_auth()]
        return [way for way in ways if needed or _SCHEME not in way]

    def _get_serializer_name(self, serializer: Any, direction: Any, bypass_extensions: bool = False) -> str:
        # A pydantic model has one JSON form for requests and answers, so it needs no second component "…Request".
        if isinstance(serializer, type) and issubclass(serializer, BaseModel):
            direction = "response"
        return super()._get_serializer_name(serializer, direction, bypass_extensions)

    def _map_serializer_field(self, field: Any, direction: Any, bypass_extensions: bool = False) -> dict[str, Any]:
        if isinstance(field, JSONField | DictField):
            schema = self._any_json(field)
            if schema is not None:
                return schema
        return super()._map_serializer_field(field, direction, bypass_extensions)

    def _map_basic_serializer(self, serializer: Any, direction: Any) -> dict[str, Any]:
        schema = super()._map_basic_serializer(serializer, direction)
        if direction == "request":
            schema["additionalProperties"] = False  # enforced by ``dressage.common.api.unknown_members``
        return schema

    def _any_json(self, field: JSONField | DictField) -> dict[str, Any] | None:
        """The schema of a field that holds any JSON, or an object of any; None for a field with a declared type.

        drf-spectacular would write "anything, or else null", which null never matches.
        """
        declared = get_override(field, "field", {})
        if isinstance(field, JSONField):
            if not isinstance(declared, dict) or {"type", "oneOf"} & declared.keys():
                return None
            schema: dict[str, Any] = dict(JSON_REFERENCE)
        elif isinstance(field.child, _UnvalidatedField):
            schema = {"type": "object", "additionalProperties": JSON_REFERENCE}
        else:
            return None
        register_json(self.registry)
        text = field.help_text or declared.get("description")
        return {**schema, "description": str(text)} if text else schema

    def _get_response_bodies(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        bodies = super()._get_response_bodies(*args, **kwargs)
        for status in self._problem_statuses():
            if status not in bodies:
                bodies[status] = self._problem(status).ref
        return dict(sorted(bodies.items()))

    def _problem_statuses(self) -> list[str]:
        handler = getattr(self.view, self.method.lower(), None)
        extra = getattr(self.view, "problem_statuses", {}).get(self.method, ())
        statuses = {"400"} | {str(status) for status in extra}
        if not any(type(permission) is AllowAny for permission in self.view.get_permissions()):
            statuses |= {"401", "403"}
        if "{" in self.path:
            statuses.add("404")
        if self.method in ("POST", "PUT", "PATCH") or hasattr(self.view, "queries"):
            statuses.add("422")  # a body, or a query with parameters that the operation does not accept
        if self.method in ("POST", "PUT", "PATCH"):
            statuses |= {"408", "411", "413", "415"}  # see ``dressage.gateway.bodies``
        if getattr(handler, "accepts_idempotency_key", False):
            statuses.add("409")
        return sorted(statuses)

    def _problem(self, status: str) -> ResolvedComponent:
        """The problem response of a status, shared by all operations."""
        problem = self.resolve_serializer(cast(Any, ProblemSerializer), "response").ref
        component = ResolvedComponent(
            name=f"Problem{status}",
            type=ResolvedComponent.RESPONSE,
            object=status,
            schema={
                "description": _DESCRIPTIONS.get(status, "Problem"),
                "content": {"application/problem+json": {"schema": problem}},
            },
        )
        self.registry.register_on_missing(component)
        return component
