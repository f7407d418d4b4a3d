"""Members of a body that an operation does not accept.

They are refused: a typo, such as ``expires`` for ``expires_at``, would otherwise be dropped silently, and with it what
the client wanted.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from rest_framework import serializers

from dressage.common.api.errors import FieldError, flatten
from dressage.common.api.problems import Problem, summary, unprocessable
from trainer_core.spec.faults import MAX_NAME, join, no_such_member

MAX_TOLD = 20
"""Maximum number of unknown members that one response names."""


def read_body(serializer: serializers.BaseSerializer) -> dict[str, Any]:
    """The validated body of a serializer that was created with ``data``.

    Raises:
        Problem: 422 that points to each fault: every member, at any depth, that the serializer has no field for, and
            everything that the serializer refuses.
    """
    refused = [] if serializer.is_valid() else list(flatten(serializer.errors))
    told = {fault["pointer"] for fault in refused}
    unknown = [fault for fault in unknown_members(serializer, serializer.initial_data) if fault["pointer"] not in told]
    if unknown:
        raise _unknown_problem(unknown + refused)
    if refused:
        raise unprocessable(refused)
    fields: dict[str, Any] = serializer.validated_data
    return fields


def refuse_any(data: Any) -> None:
    """Refuse a body if the operation takes none. An empty one passes. Raises a 422 problem."""
    if isinstance(data, Mapping) and data:
        names = list(islice(data, MAX_TOLD))
        raise _unknown_problem(
            [FieldError(pointer=join(name[:MAX_NAME]), detail=no_such_member(name, ())) for name in names]
        )
    if data:
        raise unprocessable([FieldError(pointer="", detail="This request accepts no body.")])


def unknown_members(serializer: serializers.BaseSerializer, data: Any) -> list[FieldError]:
    """The members of ``data``, at any depth, that ``serializer`` has no field for; at most ``MAX_TOLD``."""
    return list(islice(_unknown(serializer, data, ()), MAX_TOLD))


def _unknown_problem(faults: list[FieldError]) -> Problem:
    return Problem(422, "Invalid request", summary(faults), errors=faults, code="unknown_member")


def _unknown(field: serializers.Field | None, data: Any, path: tuple[str | int, ...]) -> Iterator[FieldError]:
    if isinstance(field, serializers.Serializer) and isinstance(data, Mapping):
        taken = {name: inner for name, inner in field.fields.items() if not inner.read_only}
        for name in data:
            if name in taken:
                yield from _unknown(taken[name], data[name], (*path, name))
            else:
                yield FieldError(pointer=join(*path, name[:MAX_NAME]), detail=no_such_member(name, taken))
    elif isinstance(field, serializers.ListSerializer | serializers.ListField) and isinstance(data, list):
        for index, value in enumerate(data):
            yield from _unknown(field.child, value, (*path, index))
    elif isinstance(field, serializers.DictField) and isinstance(data, Mapping):
        for name in data:
            yield from _unknown(field.child, data[name], (*path, name))
