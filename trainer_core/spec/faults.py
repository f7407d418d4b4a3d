"""Faults of a document as pydantic finds them: where each is, and a sentence that names what was probably meant.

The platform answers with them, and its client finds the same ones before it sends a spec.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from typing import Any

from pydantic import BaseModel, ValidationError

MAX_NAME = 80
"""Maximum characters of an unknown name that a response repeats."""
_MAX_LISTED = 12


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


def no_such_member(name: str, known: Collection[str]) -> str:
    """A sentence for a member that is not in ``known``, suggesting the name that was probably meant."""
    short = name[:MAX_NAME]
    near = get_close_matches(short.lower(), known, n=1, cutoff=0.6) or _begins_alike(short.lower(), known)
    if near:
        return f"There is no member {short!r} here; did you mean {near[0]!r}?"
    if not known:
        return f"There is no member {short!r} here; none is taken."
    listed = ", ".join(sorted(known)[:_MAX_LISTED]) + (", …" if len(known) > _MAX_LISTED else "")
    return f"There is no member {short!r} here; it takes {listed}."


def known_members(schema: Mapping[str, Any], data: Any, path: Sequence[str | int]) -> set[str]:
    """Names that a JSON Schema defines for the members of the object at ``path`` in ``data``.

    For a union with a discriminator, only the variant that the data names counts.
    """
    nodes = list(_variants(schema, schema, data))
    for part in path:
        data = data[part]
        nodes = [
            variant for node in nodes for child in _children(node, part) for variant in _variants(schema, child, data)
        ]
    return {name for node in nodes for name in node.get("properties", ())}


def _begins_alike(name: str, known: Collection[str]) -> list[str]:
    """Names that are a prefix of ``name``, or the reverse, such as ``expires`` and ``expires_at``."""
    return [one for one in known if len(name) > 2 and (one.startswith(name) or name.startswith(f"{one}_"))]


def _variants(root: Mapping[str, Any], node: Mapping[str, Any], data: Any) -> Iterator[Mapping[str, Any]]:
    """``node`` with references and unions resolved: the schemas that ``data`` may match."""
    if "$ref" in node:
        yield from _variants(root, root["$defs"][node["$ref"].rpartition("/")[2]], data)
        return
    yield node
    mapping = node.get("discriminator", {}).get("mapping", {})
    tag = data.get(node["discriminator"]["propertyName"]) if mapping and isinstance(data, Mapping) else None
    if isinstance(tag, str) and tag in mapping:
        yield from _variants(root, {"$ref": mapping[tag]}, data)
        return
    for union in ("anyOf", "oneOf", "allOf"):
        for variant in node.get(union, ()):
            yield from _variants(root, variant, data)


def _children(node: Mapping[str, Any], part: str | int) -> Iterator[Mapping[str, Any]]:
    """Schemas of the member or element ``part`` within ``node``."""
    named = node.get("properties", {}).get(part)
    children = [named] if named else [node.get("items" if isinstance(part, int) else "additionalProperties")]
    yield from (child for child in children if isinstance(child, Mapping))
