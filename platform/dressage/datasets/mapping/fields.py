"""Request fields that contain a mapping."""

import json
from typing import Any

from pydantic import BaseModel, ValidationError
from rest_framework import serializers

from dressage.common.api.errors import nested
from dressage.common.api.strict_json import loads
from dressage.common.openapi.serializers import PydanticField
from trainer_core.datasets.mapping import DatasetMapping
from trainer_core.spec.faults import pydantic_errors

MAX_MAPPING = 64 << 10
"""Maximum length of a mapping as JSON, in characters."""


class MappingField(PydanticField, model=DatasetMapping):
    """A mapping as a JSON member."""

    def to_internal_value(self, data: Any) -> BaseModel:  # type: ignore[override]  # a model, not plain JSON
        if len(json.dumps(data)) > MAX_MAPPING:
            raise serializers.ValidationError(f"A mapping has at most {MAX_MAPPING:,} characters of JSON.")
        return super().to_internal_value(data)


class PartField(serializers.CharField):
    """Text in an optional part of a form. An empty part is refused, as its document says.

    The framework treats an empty part as missing.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, **kwargs)

    def get_value(self, dictionary: Any) -> Any:
        """The text that was sent, or ``empty`` if there was none."""
        return dictionary.get(self.field_name, serializers.empty)


class MappingTextField(PartField):
    """A mapping in a form, as JSON text. The validated value is the model."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=MAX_MAPPING, **kwargs)

    def run_validation(self, data: Any = serializers.empty) -> DatasetMapping:
        """The mapping. Raises ValidationError with a pointer to each fault in it."""
        text = super().run_validation(data)
        try:
            document = loads(text)
        except ValueError as error:
            raise serializers.ValidationError(f"The mapping is no JSON: {error}") from error
        try:
            return DatasetMapping.model_validate(document)
        except ValidationError as error:
            raise serializers.ValidationError(nested(pydantic_errors(error, document, DatasetMapping))) from error
