"""Components of answers come from the dataclass or TypedDict that is answered, and from nowhere else."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NotRequired

import pytest
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer
from rest_framework.test import APIClient
from typing_extensions import TypedDict

from dressage.common.openapi.document_schema import Moment, Stored, component_name, document_schema, models_of
from dressage.common.openapi.documents import DocumentSerializer
from tests.platform import openapi
from tests.support.about import PLATFORM
from trainer_core.spec import RunSpec
from trainer_core.spec.recipes import Recipe


@dataclass(frozen=True, slots=True)
class Part:
    """A part; ``None`` is meant."""

    name: str
    """What it is called, or ``None``."""
    sizes: tuple[float, ...] = ()
    total: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", sum(self.sizes))


class BaseDocument(TypedDict):
    kind: Literal["a", "b"]
    """Which of the two."""
    at: Moment | None


class WholeDocument(BaseDocument):
    """A whole."""

    parts: list[Part]
    spec: Annotated[dict[str, Any], Stored(RunSpec)]
    value: Any
    note: NotRequired[str]


class WholeSerializer(DocumentSerializer, document=WholeDocument):
    """Answers a whole."""


class PartSerializer(DocumentSerializer, document=Part):
    """Answers a part."""


def test_the_component_is_what_the_class_says() -> None:
    schema, parts = document_schema(WholeDocument)
    assert component_name(WholeDocument) == "Whole"
    assert schema == {
        "type": "object",
        "description": "A whole.",
        "properties": {
            "kind": {"type": "string", "enum": ["a", "b"], "description": "Which of the two."},
            "at": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]},
            "parts": {"type": "array", "items": {"$ref": "#/components/schemas/Part"}},
            "spec": {"$ref": "#/components/schemas/RunSpec"},
            "value": {"$ref": "#/components/schemas/Json"},
            "note": {"type": "string"},
        },
        "required": ["kind", "at", "parts", "spec", "value"],
    }
    assert parts == {
        "Part": {
            "type": "object",
            "description": "A part; `null` is meant.",
            "properties": {
                "name": {"type": "string", "description": "What it is called, or `null`."},
                "sizes": {"type": "array", "items": {"type": "number"}},
                "total": {"type": "number"},
            },
            "required": ["name", "sizes", "total"],
        }
    }
    assert models_of(WholeDocument) == (RunSpec,)


@pytest.mark.expensive(7, "walks over all operations", about=PLATFORM)
def test_the_openapi_document_is_the_same_every_time() -> None:
    first = SchemaGenerator().get_schema(request=None, public=True)
    assert SchemaGenerator().get_schema(request=None, public=True) == first
    assert json.loads(OpenApiJsonRenderer().render(first)) == openapi.document(), "run make openapi"
    assert first["components"]["schemas"]["BenchFlag"]["properties"]["severity"]["$ref"].endswith("/NoteSeverity")
    assert "NoteSeverity" in first["components"]["schemas"]


def test_a_document_is_answered_as_it_is() -> None:
    part = {"name": "x", "sizes": (1.0, 2.5), "total": 3.5}
    assert PartSerializer(Part("x", (1.0, 2.5))).data == part
    assert PartSerializer([Part("x", (1.0, 2.5))], many=True).data == [part]
    whole = {"kind": "a", "at": None, "parts": [], "spec": {}, "value": [None]}
    assert WholeSerializer(whole).data == whole


def test_an_answer_of_another_shape_is_found(api: Callable[..., APIClient], monkeypatch: pytest.MonkeyPatch) -> None:
    viewer, where = api("viewer"), "/api/v1/spec/recipes"
    assert viewer.get(where).status_code == 200
    odd: Any = Recipe(name="odd", title=7, description="", spec={})  # type: ignore[arg-type]
    monkeypatch.setattr("dressage.runs.views.spec.list_recipes", lambda: [odd])
    with pytest.raises(AssertionError, match=r"GET /api/v1/spec/recipes → 200 is not .*\n  \$.data\[0\].title: 7 is"):
        viewer.get(where)
    monkeypatch.setattr(openapi, "document", lambda: {"paths": {where: {"get": {"responses": {}}}}})
    with pytest.raises(AssertionError, match=r"200: the OpenAPI document declares no application/json"):
        viewer.get(where)
