"""Turns the validation errors of pydantic and of REST framework into one list of ``{pointer, detail}``."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError
from typing_extensions import TypedDict

from dressage.common.api.members import known_members, no_such_member


class FieldError(TypedDict):
    """One fault of the request body."""

    pointer: str
    """JSON pointer (RFC 6901) into the body, such as ``/spec/rollout/group_size``; empty for the whole body."""
    detail: str


def join(*parts: str | int) -> str:
    """A JSON pointer from its parts."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def location(error_type: str, loc: Sequence[str | int], data: Any) -> list[str | int]:
    """Pydantic's location as a path into ``data``, without the tags of unions, which are not in the input."""
    path: list[str | int] = []
    current = data
    for position, part in enumerate(loc):
        last = position == len(loc) - 1
        if _holds(current, part):
            current = current[part]
        elif not (last and error_type == "missing"):
            continue
        path.append(part)
    return path


def _holds(data: Any, part: str | int) -> bool:
    """Whether ``data[part]`` is a member of a JSON object or array."""
    if isinstance(data, Mapping):
        return part in data
    return isinstance(data, Sequence) and isinstance(part, int) and 0 <= part < len(data)


def pydantic_errors(
    error: ValidationError, data: Any = None, model: type[BaseModel] | None = None
) -> list[tuple[list[str | int], str]]:
    """(path, sentence) of every fault that pydantic found.

    Args:
        error: the error that pydantic raised.
        data: the input that was validated; without it, paths keep the tags of unions.
        model: the model that refused it; with it, the sentence for an unknown member suggests the name that was
            probably meant.
    """
    found = error.errors(include_url=False, include_context=False, include_input=False)
    # A faulty element is not counted, so that a list of one faulty element is reported as too short as well.
    below = {item["loc"][:depth] for item in found for depth in range(len(item["loc"]))}
    faults = []
    for item in found:
        if item["type"] == "too_short" and item["loc"] in below:
            continue
        path = list(item["loc"]) if data is None else location(item["type"], item["loc"], data)
        sentence = item["msg"].removeprefix("Value error, ")
        if item["type"] == "extra_forbidden":
            known = known_members(_schema(model), data, path[:-1]) if model and data is not None else ()
            sentence = no_such_member(str(path[-1]), known) if known else f"There is no member {path[-1]!r} here."
        faults.append((path, sentence))
    return faults


@cache
def _schema(model: type[BaseModel]) -> dict[str, Any]:
    """The model's schema; callers must not change it. Building it can take a third of a second."""
    return model.model_json_schema()


def nested(errors: Sequence[tuple[list[str | int], str]]) -> Any:
    """The same faults nested as in REST framework, so that an outer serializer can prepend its own path."""
    tree: dict[str, Any] = {}
    for path, message in errors:
        node = tree
        for part in path:
            node = node.setdefault(str(part), {})
        node.setdefault("non_field_errors", []).append(message)
    return tree


def flatten(detail: Any, path: tuple[str | int, ...] = ()) -> Iterator[FieldError]:
    """REST framework's nested error detail as a flat list."""
    if isinstance(detail, Mapping):
        for key, value in detail.items():
            yield from flatten(value, path if key == "non_field_errors" else (*path, key))
    elif isinstance(detail, (list, tuple)):
        for index, value in enumerate(detail):
            nested_value = isinstance(value, (Mapping, list, tuple))
            yield from flatten(value, (*path, index) if nested_value else path)
    else:
        yield FieldError(pointer=join(*path), detail=str(detail))
