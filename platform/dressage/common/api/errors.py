"""Validation errors of pydantic and of REST framework as one list of ``{pointer, detail}``."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NotRequired

from typing_extensions import TypedDict

from trainer_core.spec.faults import join


class ValueChange(TypedDict):
    """One value to set."""

    pointer: str
    """JSON pointer (RFC 6901) into the body, such as ``/spec/rollout/engine/max_model_len``."""
    value: Any


class Mend(TypedDict):
    """Changes that clear a fault, to be made together."""

    label: str
    """What they do, as a button says it: "Set max_model_len to 512"."""
    changes: list[ValueChange]


class FieldError(TypedDict):
    """One fault of the request body."""

    pointer: str
    """JSON pointer (RFC 6901) into the body, such as ``/spec/rollout/group_size``; empty for the whole body."""
    detail: str
    mend: NotRequired[Mend]
    """Absent if only the sender can know what is right."""


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
