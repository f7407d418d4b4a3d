"""Finds and changes the items of a rubric inside a reward definition."""

from collections.abc import Callable
from typing import Any

from dressage.common.api.errors import FieldError
from dressage.common.api.problems import Problem, conflict, validated
from trainer_core.rewards import RewardDefinition

Items = list[dict[str, Any]]


def with_item(definition: dict[str, Any], component: str, item: dict[str, Any]) -> RewardDefinition:
    """The definition with ``item`` appended to the component's rubric.

    Raises:
        Problem: 409 if there is no such rubric, or it already has an item of that name; 422 if the item is invalid.
    """

    def append(items: Items) -> Items:
        if any(known["name"] == item["name"] for known in items):
            detail = f"The rubric already has an item {item['name']!r}: choose another name, or retire the proposal."
            raise conflict(detail, code="name_taken", errors=[FieldError(pointer="/name", detail=detail)])
        return [*items, item]

    try:
        return _changed(definition, component, append)
    except Problem as problem:
        raise _of_item(problem, item) from problem


def without_item(definition: dict[str, Any], component: str, name: str) -> RewardDefinition | None:
    """The definition without the item ``name`` of the component's rubric; None if the item no longer exists.

    Raises:
        Problem: 409 if the rubric needs it, for example as its only criterion with a positive weight.
    """
    try:
        present = [item["name"] for item in _rubric(definition, component)["items"]]
    except Problem:
        return None
    if name not in present:
        return None
    try:
        return _changed(definition, component, lambda items: [item for item in items if item["name"] != name])
    except Problem as problem:
        raise conflict(f"The rubric cannot lose {name!r}: {problem.detail}", code="item_needed") from problem


def _changed(definition: dict[str, Any], component: str, change: Callable[[Items], Items]) -> RewardDefinition:
    # Do not modify the stored document: versions never change.
    document = RewardDefinition.model_validate(definition).model_dump(mode="json")
    rubric = _rubric(document, component)
    rubric["items"] = change(list(rubric["items"]))
    return validated(RewardDefinition, document)


def _of_item(problem: Problem, item: dict[str, Any]) -> Problem:
    """The same problem with pointers into the item, which is what the caller sent."""
    faults = [(error["pointer"].rpartition("/")[2], error["detail"]) for error in problem.errors]
    if problem.status != 422:
        return problem
    errors = [FieldError(pointer=f"/{name}" if name in item else "", detail=detail) for name, detail in faults]
    return Problem(422, problem.title, errors[0]["detail"], errors=errors, code=problem.code)


def _rubric(document: dict[str, Any], component: str) -> dict[str, Any]:
    """The component's only rubric, at any depth."""
    found = next((entry for entry in document["components"] if entry["name"] == component), None)
    if found is None:
        raise conflict(f"The reward's newest version has no component {component!r}.", code="no_rubric")
    rubrics = list(_rubrics_in(found["grader"]))
    if len(rubrics) != 1:
        what = "no rubric" if not rubrics else f"{len(rubrics)} rubrics"
        raise conflict(f"The component {component!r} of the newest version has {what}.", code="no_rubric")
    return rubrics[0]


def _rubrics_in(grader: dict[str, Any]) -> list[dict[str, Any]]:
    match grader["type"]:
        case "rubric":
            return [grader]
        case "multi":
            return [rubric for part in grader["graders"].values() for rubric in _rubrics_in(part)]
        case "composite":
            return [rubric for part in grader["parts"] for rubric in _rubrics_in(part["grader"])]
        case _:
            return []
