"""Serializers and fields that several apps share."""

from datetime import datetime
from typing import Any, ClassVar, cast

from drf_spectacular.utils import extend_schema_field
from pydantic import BaseModel, ValidationError
from rest_framework import serializers

from dressage.common.api.errors import FieldError, nested
from dressage.common.api.problems import ProblemDocument
from dressage.common.api.query import Time, Unfit
from dressage.common.openapi.documents import DocumentSerializer
from trainer_core.spec.faults import pydantic_errors

SLUG_PATTERN = r"^[a-z0-9][a-z0-9_\-]{0,62}$"


class PydanticField(serializers.JSONField):
    """A JSON member that is a pydantic model: typed in the schema, validated by the model, faults with full paths.

    ``class RunSpecField(PydanticField, model=RunSpec)``; the validated value is the model.
    """

    model: ClassVar[type[BaseModel]]

    def __init_subclass__(cls, model: type[BaseModel], **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.model = model
        # drf-spectacular reads pydantic models too; its annotations do not say so.
        extend_schema_field(cast(Any, model))(cls)

    def to_internal_value(self, data: Any) -> BaseModel:  # type: ignore[override]  # a model, not plain JSON
        try:
            return self.model.model_validate(data)
        except ValidationError as error:
            raise serializers.ValidationError(nested(pydantic_errors(error, data, self.model))) from error

    def to_representation(self, value: Any) -> Any:
        return value.model_dump(mode="json") if isinstance(value, BaseModel) else value


class SlugField(serializers.RegexField):
    """The name of a thing in specs and addresses: lower-case letters, digits, ``-`` and ``_``."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            SLUG_PATTERN,
            error_messages={
                "invalid": "Use 1 to 63 lower-case letters, digits, - and _; begin with a letter or digit."
            },
            **kwargs,
        )


class TimeField(serializers.DateTimeField):
    """A point in time in a request, with its offset from UTC; the same text as in a query."""

    def to_internal_value(self, value: Any) -> datetime:
        try:
            return Time(name="").read(value if isinstance(value, str) else "")
        except Unfit as error:
            raise serializers.ValidationError(f"Give {error}.") from error


class TextField(serializers.CharField):
    """Text in a request. A number is refused: the framework would convert it."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return super().to_internal_value(data)


class FieldErrorSerializer(DocumentSerializer, document=FieldError):
    """One fault of a request body."""


class ProblemSerializer(DocumentSerializer, document=ProblemDocument):
    """A problem, which every operation may return."""
