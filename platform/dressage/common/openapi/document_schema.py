"""JSON Schema of dataclasses and TypedDicts in responses: every field is present, ``Any`` is any JSON value."""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from itertools import pairwise
from typing import Annotated, Any

from django.db.models import Choices
from django.utils.module_loading import import_string
from drf_spectacular.plumbing import list_hash
from pydantic import BaseModel, GetJsonSchemaHandler, TypeAdapter, WithJsonSchema
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

from dressage.common.openapi.json_component import JSON_REFERENCE

SUFFIX = "Document"
"""Suffix that is not part of the component's name: ``RunDocument`` is the component ``Run``."""
_COMPONENTS = "#/components/schemas/"
_MODEL = "x-model"
"""Placeholder for a model's component until the whole schema is complete: pydantic refuses foreign references."""

Moment = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]
"""A time of RFC 3339 in UTC."""


class OneOf:
    """Marks a column whose values are Django choices: ``Annotated[str, OneOf(RunState)]``."""

    def __init__(self, choices: type[Choices]) -> None:
        self.choices = choices

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {
            "type": "string",
            "enum": list(self.choices.values),
            "description": "\n".join(f"* `{value}` - {label}" for value, label in self.choices.choices),
            # Lets drf-spectacular give one name to equal choices, wherever they occur.
            "x-spec-enum-id": list_hash(list(self.choices.choices)),
        }


class Stored:
    """Marks a document that was validated when stored, as in ``Annotated[dict[str, Any], Stored(RunSpec)]``."""

    def __init__(self, model: type[BaseModel]) -> None:
        self.model = model

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {_MODEL: f"{self.model.__module__}.{self.model.__qualname__}"}


def component_name(document: type) -> str:
    """Name of the OpenAPI component of a dataclass or TypedDict."""
    return document.__name__.removesuffix(SUFFIX)


def document_schema(document: type) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Schema of ``document``, and the schemas of its parts by the names of their components.

    Built again on each call: drf-spectacular changes the schemas that it is given.
    """
    schema = _generated(document)
    parts = schema.pop("$defs", {})
    return _linked(schema), {name.removesuffix(SUFFIX): _linked(part) for name, part in parts.items()}


def models_of(document: type) -> tuple[type[BaseModel], ...]:
    """The pydantic models that ``document`` or one of its parts holds in stored form."""
    return tuple(import_string(path) for path in sorted(set(_model_paths(_generated(document)))))


def _generated(document: type) -> dict[str, Any]:
    adapter: TypeAdapter[Any] = TypeAdapter(document)
    return adapter.json_schema(
        mode="serialization", ref_template=f"{_COMPONENTS}{{model}}", schema_generator=_DocumentSchema
    )


class _DocumentSchema(GenerateJsonSchema):
    """Pydantic's schema without titles, with attribute docstrings, and with all fields required that a response has."""

    def any_schema(self, schema: core_schema.AnySchema) -> JsonSchemaValue:
        return {_MODEL: ""}

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def field_is_required(self, field: Any, total: bool) -> bool:
        return bool(field.get("required", total)) if field["type"] == "typed-dict-field" else True

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        return _described(super().model_schema(schema), {})

    def dataclass_schema(self, schema: core_schema.DataclassSchema) -> JsonSchemaValue:
        return _described(super().dataclass_schema(schema), _attribute_docstrings(schema["cls"]))

    def typed_dict_schema(self, schema: core_schema.TypedDictSchema) -> JsonSchemaValue:
        return _described(super().typed_dict_schema(schema), _attribute_docstrings(schema["cls"]))


def _described(schema: JsonSchemaValue, texts: dict[str, str]) -> JsonSchemaValue:
    """The schema with descriptions only: pydantic's own for its fields, and ``texts`` by name for the others."""
    schema.pop("title", None)
    schema.pop("additionalProperties", None)
    for name, member in schema.get("properties", {}).items():
        if name in texts:
            member["description"] = texts[name]
    for described in (schema, *schema.get("properties", {}).values()):
        if "description" in described:
            described["description"] = _as_text(described["description"])
    return schema


def _attribute_docstrings(cls: type) -> dict[str, str]:
    """The strings below the fields of ``cls`` and of its bases."""
    found: dict[str, str] = {}
    for base in reversed(getattr(cls, "__orig_bases__", cls.__bases__)):
        if isinstance(base, type) and "__annotations__" in vars(base):
            found |= _attribute_docstrings(base)
    [definition] = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    assert isinstance(definition, ast.ClassDef)
    for pair in pairwise(definition.body):
        match pair:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                found[name] = inspect.cleandoc(text)
    return found


def _as_text(docstring: str) -> str:
    """The docstring as text for the API: Markdown with single instead of double backticks, and JSON's null."""
    return re.sub(r"\bNone\b", "null", docstring.replace("``", "`"))


def _linked(node: Any) -> Any:
    """The schema with references in place of the models' marks."""
    if isinstance(node, list):
        return [_linked(member) for member in node]
    if not isinstance(node, dict):
        return node
    found = {key: _linked(member) for key, member in node.items() if key != _MODEL}
    if "$ref" in found:
        found["$ref"] = found["$ref"].removesuffix(SUFFIX)
    if _MODEL in node:
        found |= {"$ref": _COMPONENTS + node[_MODEL].rpartition(".")[2]} if node[_MODEL] else JSON_REFERENCE
    return found


def _model_paths(node: Any) -> Iterator[str]:
    if isinstance(node, list):
        for member in node:
            yield from _model_paths(member)
    elif isinstance(node, dict):
        if node.get(_MODEL):
            yield node[_MODEL]
        for member in node.values():
            yield from _model_paths(member)
