"""Parses a grader in the format of OpenAI's clients."""

from typing import Any

from pydantic import RootModel, model_validator

from dressage.common.api.problems import validated
from dressage.rewards import needs
from dressage.teams.models import Team
from trainer_core.rewards import RewardDefinition
from trainer_core.rewards.graders import Grader
from trainer_core.rewards.graders.multi import MultiGrader
from trainer_core.rewards.graders.size import refuse_many


class AnyGrader(RootModel[Grader]):
    """Any grader."""

    @model_validator(mode="before")
    @classmethod
    def _is_small(cls, given: Any) -> Any:
        return refuse_many(given)


def read_grader(team: Team, document: dict[str, Any]) -> Grader:
    """Parse the grader.

    Raises:
        Problem: 422 with a pointer under ``/grader`` to each fault, including a judge that the team does not have.
    """
    translated = _translated(document)
    grader = validated(AnyGrader, translated, "grader").root
    needs.require(team, grader, "grader")
    return grader


def parts_of(grader: Grader) -> dict[str, Grader]:
    """Parts that are graded separately: the graders of a ``multi``, or else the grader alone under its own name."""
    if isinstance(grader, MultiGrader):
        return dict(grader.graders)
    return {name_of(grader): grader}


def name_of(grader: Grader) -> str:
    """The grader's own name, else its type."""
    return getattr(grader, "name", "") or grader.type


def as_definition(parts: dict[str, Grader]) -> RewardDefinition:
    """A definition that grades each part separately: component ``g0`` is the first, and so on."""
    components = [{"name": f"g{index}", "grader": part} for index, part in enumerate(parts.values())]
    return RewardDefinition.model_validate({"components": components})


def _translated(document: dict[str, Any]) -> dict[str, Any]:
    """The document with OpenAI's terms replaced by ours."""
    if document.get("type") == "python":
        # OpenAI's images have other packages; there is one image here. The tag is the client's choice and has no
        # effect.
        return {key: value for key, value in document.items() if key != "image_tag"}
    graders = document.get("graders")
    if document.get("type") == "multi" and isinstance(graders, dict):
        if isinstance(graders.get("type"), str):
            # The client's types allow a single grader here; its name is the one that the formula uses.
            graders = {str(graders.get("name") or graders["type"]): graders}
        parts = {name: _translated(part) if isinstance(part, dict) else part for name, part in graders.items()}
        return {**document, "graders": parts}
    return document
