"""Fields of bodies that hold a mapping."""

import json
from typing import Any

from pydantic import BaseModel, ValidationError
from rest_framework import serializers

from dressage.common.errors import nested, pydantic_errors
from dressage.common.parsers import loads
from dressage.common.serializers import PydanticField
from trainer_core.datasets.mapping import DatasetMapping

MAX_MAPPING = 64 << 10
"""Characters of a mapping as JSON."""


class MappingField(PydanticField, model=DatasetMapping):
    """A mapping as a JSON member."""

    def to_internal_value(self, data: Any) -> BaseModel:  # type: ignore[override]  # a model, not plain JSON
        if len(json.dumps(data)) > MAX_MAPPING:
            raise serializers.ValidationError(f"A mapping has at most {MAX_MAPPING:,} characters of JSON.")
        return super().to_internal_value(data)


class MappingTextField(serializers.CharField):
    """A mapping in a form, which is JSON text; the validated value is the model."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=MAX_MAPPING, required=False, allow_null=True, default=None, **kwargs)

    def run_validation(self, data: Any = serializers.empty) -> DatasetMapping | None:
        """The mapping. Raises ValidationError with a pointer to each fault within."""
        text = super().run_validation(data)
        if text is None:
            return None
        try:
            document = loads(text)
        except ValueError as error:
            raise serializers.ValidationError(f"The mapping is no JSON: {error}") from error
        try:
            return DatasetMapping.model_validate(document)
        except ValidationError as error:
            raise serializers.ValidationError(nested(pydantic_errors(error, document, DatasetMapping))) from error
