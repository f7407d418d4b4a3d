"""Names of members: which ones a JSON Schema knows, and which one was probably meant."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

MAX_NAME = 80
"""Maximum characters of an unknown name that a response repeats."""
_MAX_LISTED = 12


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
