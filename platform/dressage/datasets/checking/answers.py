"""Serialisation of check results between processes."""

from typing import Any

from dressage.common.api.problems import Problem

OUT_OF_MEMORY = "memory"


def of_problem(problem: Problem) -> dict[str, Any]:
    """A problem as JSON."""
    return {
        "status": problem.status,
        "title": problem.title,
        "detail": problem.detail,
        "errors": problem.errors,
        "code": problem.code,
        "headers": problem.headers,
        "extra": problem.extra,
    }


def to_problem(document: dict[str, Any]) -> Problem:
    """The problem that ``of_problem`` serialised."""
    status, title, detail = document.pop("status"), document.pop("title"), document.pop("detail")
    return Problem(status, title, detail, **document)
