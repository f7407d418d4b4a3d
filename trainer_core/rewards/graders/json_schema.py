"""JSON of an asked shape."""

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, Literal

from jsonschema import (  # type: ignore[import-untyped]
    Draft202012Validator,
    SchemaError,
    ValidationError,
    validators,
)
from pydantic import field_validator
from referencing import Registry

from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.grader_model import GraderModel
from trainer_core.rewards.graders.pattern import check_pattern, found
from trainer_core.rewards.sample import Sample
from trainer_core.spec.base import field

_MAX_TEXT = 200_000


def _pattern(validator: Any, pattern: str, value: Any, schema: Any) -> Iterator[ValidationError]:
    if validator.is_type(value, "string") and not found(pattern, value):
        yield ValidationError("does not match")


_Validator = validators.extend(Draft202012Validator, {"pattern": _pattern})


class JsonSchemaGrader(GraderModel):
    """1 if the whole answer is JSON that fits the schema, else 0. A fence of three back-ticks around it is allowed."""

    type: Literal["json_schema"] = "json_schema"
    json_schema: dict[str, Any] = field(max_length=200)
    """JSON Schema, draft 2020-12, without ``patternProperties`` and without references to other documents."""

    @field_validator("json_schema")
    @classmethod
    def _is_a_schema(cls, schema: dict[str, Any]) -> dict[str, Any]:
        try:
            Draft202012Validator.check_schema(schema)
        except SchemaError as error:
            raise ValueError(f"not a JSON Schema: {error.message}") from error
        _check(schema)
        return schema

    def grade(self, sample: Sample, item: Mapping[str, Any]) -> float:
        """1.0 or 0.0."""
        text = sample.answer_text.strip()
        if text.startswith("```") and text.endswith("```"):
            text = text[3:-3].removeprefix("json").strip()
        if len(text) > _MAX_TEXT:
            return 0.0
        try:
            value = json.loads(text, parse_constant=_refuse)
            return float(_validator(json.dumps(self.json_schema)).is_valid(value))
        except (ValueError, RecursionError):
            return 0.0
        except GraderError:
            raise
        except Exception as error:
            raise GraderError(f"the schema cannot be applied: {error}") from error


@lru_cache(maxsize=64)
def _validator(schema: str) -> Any:
    return _Validator(json.loads(schema), registry=Registry())


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON")


def _check(schema: Any) -> None:
    if isinstance(schema, list):
        for part in schema:
            _check(part)
    elif isinstance(schema, dict):
        for key, part in schema.items():
            if key == "patternProperties":
                raise ValueError("patternProperties is not supported")
            if key in ("$ref", "$dynamicRef") and isinstance(part, str) and not part.startswith("#"):
                raise ValueError(f"{key} may point only into the schema itself")
            if key == "pattern" and isinstance(part, str):
                check_pattern(part)
            _check(part)
