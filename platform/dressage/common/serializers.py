"""Serializers and fields that several apps share."""

from typing import Any, ClassVar, cast

from drf_spectacular.utils import extend_schema_field
from pydantic import BaseModel, ValidationError
from rest_framework import serializers

from dressage.common.errors import nested, pydantic_errors

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
            raise serializers.ValidationError(nested(pydantic_errors(error, data))) from error

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


class FieldErrorSerializer(serializers.Serializer):
    pointer = serializers.CharField(help_text="JSON pointer into the request body; empty for the whole body.")
    detail = serializers.CharField()


class OpenAIErrorSerializer(serializers.Serializer):
    message = serializers.CharField()
    type = serializers.ChoiceField(["invalid_request_error", "server_error"])
    param = serializers.CharField(allow_null=True)
    code = serializers.CharField()


class ProblemSerializer(serializers.Serializer):
    """RFC 9457 problem document; ``error`` repeats it in OpenAI's form."""

    type = serializers.CharField(help_text="Stable URN of the kind of problem.")
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField(help_text="What happened and what to do.")
    instance = serializers.CharField()
    errors = FieldErrorSerializer(many=True)
    error = OpenAIErrorSerializer()
