"""JSON of an asked shape."""

import json
from collections.abc import Mapping
from typing import Any, Literal

from pydantic import field_validator

from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.grader_model import GraderModel
from trainer_core.rewards.graders.text.pattern import check_pattern
from trainer_core.rewards.graders.text.schema_references import check_references, check_size
from trainer_core.rewards.graders.text.schema_validator import first_fault, fits
from trainer_core.rewards.reasons import tell
from trainer_core.rewards.sample import Sample
from trainer_core.spec.base import field
from trainer_core.spec.untrusted import refuse_if

_MAX_TEXT = 200_000
_TOO_DEEP = "the schema is nested too deeply"
_SHALLOW = 50
"""Brackets below which it is not the text's depth that exhausts Python's stack."""


class JsonSchemaGrader(GraderModel):
    """1 if the whole answer is JSON that fits the schema, else 0. A fence of three back-ticks around it is allowed."""

    type: Literal["json_schema"] = "json_schema"
    json_schema: dict[str, Any] = field(max_length=200)
    """JSON Schema, draft 2020-12, without ``patternProperties`` and without references to other documents."""

    @field_validator("json_schema")
    @classmethod
    def _is_a_schema(cls, schema: dict[str, Any]) -> dict[str, Any]:
        try:
            check_size(schema)
            refuse_if(schema_fault, json.dumps(schema))
        except RecursionError:
            raise ValueError(_TOO_DEEP) from None
        return schema

    def grade(self, sample: Sample, item: Mapping[str, Any]) -> float:
        """1.0 or 0.0."""
        text = sample.answer_text.strip()
        if text.startswith("```") and text.endswith("```"):
            text = text[3:-3].removeprefix("json").strip()
        if len(text) > _MAX_TEXT:
            tell(f"The answer has {len(text)} characters, and {_MAX_TEXT} are read.")
            return 0.0
        try:
            value = json.loads(text, parse_constant=_refuse)
            right = fits(json.dumps(self.json_schema), value)
            tell(f"The answer is JSON and {'fits' if right else 'does not fit'} the schema.")
            return float(right)
        except RecursionError as error:
            if text.count("[") + text.count("{") < _SHALLOW:
                raise GraderError("the schema cannot be applied: it leads back to itself without end") from error
            tell("The answer is nested too deeply.")
            return 0.0
        except ValueError as error:
            tell(f"The answer is no JSON: {error}.")
            return 0.0
        except GraderError:
            raise
        except Exception as error:
            raise GraderError(f"the schema cannot be applied: {error}") from error


def schema_fault(text: str) -> str | None:
    """Reason why the JSON ``text`` is not a schema that can be applied, or None."""
    try:
        schema = json.loads(text)
        if (fault := first_fault(schema)) is not None:
            return f"not a JSON Schema: {fault}"
        _check(schema)
        check_references(schema)
    except RecursionError:
        return _TOO_DEEP
    except ValueError as error:
        return str(error)
    return None


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
