"""The run spec: its schema, recipes, and a validation without side effects."""

from dataclasses import asdict
from functools import cache
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from pydantic import ValidationError
from rest_framework.response import Response

from dressage.common.api.errors import FieldError
from dressage.common.api.permissions import IsViewer
from dressage.common.scopes import Noun
from dressage.policies.selectors import policy_size
from dressage.runs.facts.serializers import (
    RecipeListSerializer,
    RecipeSerializer,
    ValidateSerializer,
    ValidationSerializer,
)
from dressage.runs.needs import references
from dressage.teams.api import ApiView, TeamRequest
from trainer_core.explain import explain
from trainer_core.spec import RunSpec
from trainer_core.spec.faults import join, pydantic_errors
from trainer_core.spec.recipes import list_published, list_recipes


class SpecSchemaView(ApiView):
    noun = Noun.RUNS

    @extend_schema(operation_id="getSpecSchema", tags=["spec"], responses=OpenApiTypes.OBJECT)
    def get(self, request: TeamRequest) -> Response:
        """JSON Schema of run specs, from which the console builds its form."""
        return Response(_schema())


class RecipesView(ApiView):
    noun = Noun.RUNS

    @extend_schema(operation_id="listRecipes", tags=["spec"], responses=RecipeListSerializer)
    def get(self, request: TeamRequest) -> Response:
        """Complete specs to start from: first for the starter policy, then with published settings for real models."""
        recipes = [*list_recipes(), *list_published()]
        return Response({"object": "list", "data": RecipeSerializer(recipes, many=True).data})


class ValidateSpecView(ApiView):
    noun = Noun.RUNS
    roles = {"POST": IsViewer}

    @extend_schema(
        operation_id="validateSpec", tags=["spec"], request=ValidateSerializer, responses=ValidationSerializer
    )
    def post(self, request: TeamRequest) -> Response:
        """Validate a spec and its references. Faults are part of a normal response; nothing is stored."""
        document = self.body(ValidateSerializer)["spec"]
        try:
            spec = RunSpec.model_validate(document)
        except ValidationError as error:
            faults = pydantic_errors(error, document, RunSpec)
            errors = [FieldError(pointer=join("spec", *path), detail=detail) for path, detail in faults]
            return Response({"valid": False, "errors": errors, "resolved": None, "explanation": None})
        found = references.resolve(request.team, spec, new=True)
        errors = found.errors
        size, teacher = (None if one is None else policy_size(one) for one in (found.policy, found.teacher))
        explanation = asdict(explain(spec, size, teacher, found.dataset_rows))
        resolved = spec.model_dump(mode="json")
        return Response({"valid": not errors, "errors": errors, "resolved": resolved, "explanation": explanation})


@cache
def _schema() -> dict[str, Any]:
    """The schema, which callers must not change. Building it takes a third of a second."""
    return RunSpec.model_json_schema()
