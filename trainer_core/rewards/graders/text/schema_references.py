"""Size of a JSON Schema, as it is and with its references written out. A chain of definitions, each of which refers to
the next one twice, doubles with each level: what takes a kilobyte to write takes hours to apply."""

from collections.abc import Iterator
from typing import Any

from referencing import Registry
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

MOST_SUBSCHEMAS = 10_000
MOST_PARTS = 2 * MOST_SUBSCHEMAS
"""Objects and truth values of a schema: each may be a subschema, and costs time before anything is known of it."""
MOST_SEGMENTS = 100_000
"""Segments (``/name``) of all references. Following one costs up to the square of its segments."""
_MAPS = ("properties", "dependentSchemas")
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
# fmt: off
_SINGLE = (
    "not", "if", "then", "else", "items", "contains", "additionalProperties", "propertyNames", "unevaluatedItems",
    "unevaluatedProperties",
)
# fmt: on
_REFERENCES = ("$ref", "$dynamicRef")
_TOO_MANY = f"more than {MOST_SUBSCHEMAS} subschemas once all references are written out"

Place = tuple[str | int, ...]


def check_size(schema: object) -> None:
    """Refuse a document that takes long to be checked at all, whether it is a schema or not.

    Raises:
        ValueError: it has more than ``MOST_PARTS`` parts.
    """
    parts, todo = 0, [schema]
    while todo:
        match todo.pop():
            case dict() as members:
                parts += 1
                todo += members.values()
            case list() as items:
                todo += items
            case bool():
                parts += 1
    if parts > MOST_PARTS:
        raise ValueError(f"it has {parts} objects and truth values; a schema may have {MOST_PARTS}")


def check_references(schema: dict[str, Any]) -> None:
    """Refuse a schema that is too large once its references are written out.

    Recursion counts once: how deep it goes is up to the text that is checked, not to the schema.

    Args:
        schema: a schema of draft 2020-12, of a size that ``check_size`` lets pass.

    Raises:
        ValueError: it has more than ``MOST_SUBSCHEMAS`` subschemas (the message names the reference with the most), its
            references are too long in all, or cannot be followed.
    """
    try:
        graph = _Graph(schema)
    except (AttributeError, TypeError) as error:  # of ``referencing``: a pointer may lead to what is no schema
        raise ValueError(f"its references cannot be followed: {error}") from error
    sizes = graph.sizes()
    if sizes[id(schema)] <= MOST_SUBSCHEMAS:
        return
    place, reference = max(graph.references, key=lambda entry: sizes[entry[2]], default=((), "", 0))[:2]
    pointer = "".join(f"/{part}" for part in place)
    where = f"{pointer}: {reference!r} leads to" if reference else "it has"
    raise ValueError(f"{where} {_TOO_MANY}")


class _Graph:
    """Subschemas that can be reached, and which of them each applies."""

    def __init__(self, root: dict[str, Any]) -> None:
        self.references: list[tuple[Place, str, int]] = []
        """(place, reference, node that it leads to)."""
        self._edges: dict[int, list[int]] = {}
        self._segments = 0
        resource = DRAFT202012.create_resource(root)
        uri = resource.id() or ""
        # Crawled once: a resolver whose registry is not crawls the whole schema for each reference to an anchor.
        resolver = Registry().with_resource(uri, resource).crawl().resolver(uri)
        todo: list[tuple[dict[str, Any], Place, Any]] = [(root, (), resolver)]
        while todo:
            node, place, resolver = todo.pop()
            if id(node) in self._edges:
                continue
            edges = self._edges[id(node)] = []
            if len(self._edges) > MOST_SUBSCHEMAS:
                raise ValueError(f"it has {_TOO_MANY}")
            if "$id" in node and node is not root:
                resolver = resolver.in_subresource(DRAFT202012.create_resource(node))
            for child, where in _children(node, place):
                edges.append(id(child))
                todo.append((child, where, resolver))
            for key in _REFERENCES:
                reference = node.get(key)
                if not isinstance(reference, str):
                    continue
                self._count_segments(reference)
                try:
                    found = resolver.lookup(reference)
                except Unresolvable:
                    continue  # applying the schema is an error then
                if isinstance(found.contents, dict):
                    edges.append(id(found.contents))
                    self.references.append(((*place, key), reference, id(found.contents)))
                    todo.append((found.contents, (*place, key), found.resolver))

    def _count_segments(self, reference: str) -> None:
        self._segments += reference.count("/")
        if self._segments > MOST_SEGMENTS:
            raise ValueError(f"its references have more than {MOST_SEGMENTS} segments in all")

    def sizes(self) -> dict[int, int]:
        """Subschemas below each node, itself included, counted up to just above the limit.

        Nodes that refer to one another (a strongly connected component, found as Tarjan did in 1972) share one size:
        that of all of them together, each counted once.
        """
        order: dict[int, int] = {}
        low: dict[int, int] = {}
        sizes: dict[int, int] = {}
        open_nodes: list[int] = []
        for root in self._edges:
            if root in order:
                continue
            path = [(root, iter(self._edges[root]))]
            order[root] = low[root] = len(order)
            open_nodes.append(root)
            while path:
                node, rest = path[-1]
                child = next(rest, None)
                if child is None:
                    path.pop()
                    if path:
                        low[path[-1][0]] = min(low[path[-1][0]], low[node])
                    if low[node] == order[node]:
                        self._close(node, open_nodes, sizes)
                elif child not in order:
                    order[child] = low[child] = len(order)
                    open_nodes.append(child)
                    path.append((child, iter(self._edges[child])))
                elif child not in sizes:
                    low[node] = min(low[node], order[child])
        return sizes

    def _close(self, first: int, open_nodes: list[int], sizes: dict[int, int]) -> None:
        members = {open_nodes.pop()}
        while first not in members:
            members.add(open_nodes.pop())
        size = len(members)
        for member in members:
            size += sum(sizes[child] for child in self._edges[member] if child not in members)
        sizes.update(dict.fromkeys(members, min(size, MOST_SUBSCHEMAS + 1)))


def _children(node: dict[str, Any], place: Place) -> Iterator[tuple[dict[str, Any], Place]]:
    """Subschemas that a schema applies, with their places; definitions are applied by references alone."""
    for key in _MAPS:
        members = node.get(key)
        if isinstance(members, dict):
            yield from ((child, (*place, key, name)) for name, child in members.items() if isinstance(child, dict))
    for key in _LISTS:
        parts = node.get(key)
        if isinstance(parts, list):
            yield from ((child, (*place, key, n)) for n, child in enumerate(parts) if isinstance(child, dict))
    for key in _SINGLE:
        if isinstance(node.get(key), dict):
            yield node[key], (*place, key)
