"""Responses whose shape is declared once, as a dataclass or TypedDict. OpenAPI and the typed client follow from it.

``class PlanSerializer(DocumentSerializer, document=PlanDocument)`` is all that a response needs. The component has the
class's fields with their types. Its descriptions are the docstrings of the class and of its attributes.
"""

from dataclasses import asdict, is_dataclass
from typing import Any, ClassVar, cast

from drf_spectacular.extensions import OpenApiSerializerExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent
from rest_framework import serializers

from dressage.common.openapi.document_schema import component_name, document_schema, models_of
from dressage.common.openapi.json_component import register_json


class DocumentSerializer(serializers.BaseSerializer):
    """A response that is already a document: a dataclass, or the mapping that a TypedDict describes."""

    document: ClassVar[type]

    def __init_subclass__(cls, document: type, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.document = document

    def to_representation(self, instance: Any) -> Any:
        return asdict(instance) if is_dataclass(instance) and not isinstance(instance, type) else instance


class DocumentExtension(OpenApiSerializerExtension):
    """Components of document serializers and of everything that their documents contain."""

    target_class = DocumentSerializer
    match_subclasses = True

    def get_name(self, auto_schema: AutoSchema, direction: str) -> str:
        return component_name(self.target.document)

    def get_identity(self, auto_schema: AutoSchema, direction: str) -> Any:
        # Parts of other documents are known by their names.
        return component_name(self.target.document)

    def map_serializer(self, auto_schema: AutoSchema, direction: str) -> dict[str, Any]:
        schema, parts = document_schema(self.target.document)
        register_json(auto_schema.registry)
        for name, part in parts.items():
            component = ResolvedComponent(name=name, type=ResolvedComponent.SCHEMA, object=name, schema=part)
            auto_schema.registry.register_on_missing(component)
        for model in models_of(self.target.document):
            # drf-spectacular resolves pydantic models too; its annotations do not say so.
            auto_schema.resolve_serializer(cast(Any, model), "response")
        return schema
