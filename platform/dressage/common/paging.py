"""Lists by cursor: ``?after=<id>&limit=`` answers ``{object: "list", data, has_more, next}``."""

from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import Model, Q, QuerySet
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response

from dressage.common.problems import invalid

DEFAULT_LIMIT = 50
MAX_LIMIT = 200


def limit_of(request: Request, default: int = DEFAULT_LIMIT, maximum: int = MAX_LIMIT) -> int:
    """The ``limit`` parameter; a problem when it is not a number from 1 to ``maximum``."""
    text = request.query_params.get("limit", str(default))
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:9]) <= maximum:
        raise invalid("/limit", f"limit must be a whole number from 1 to {maximum}.")
    return int(text)


class CursorPage(BasePagination):
    """Keyset paging: exact under concurrent inserts, equally quick on every page.

    ``after`` is the id of the last row seen. A subclass may set another ``ordering``; its last field must be unique.
    """

    ordering: tuple[str, ...] = ("-created_at", "-id")
    default_limit = DEFAULT_LIMIT
    max_limit = MAX_LIMIT
    has_more = False
    next_id: str | None = None

    def paginate_queryset(  # type: ignore[override]  # a cursor is a condition: lists cannot be paged by it
        self, queryset: QuerySet, request: Request, view: Any = None
    ) -> list[Any]:
        """The rows of this page. Raises a 422 problem for an unknown cursor or a bad limit."""
        limit = limit_of(request, self.default_limit, self.max_limit)
        after = request.query_params.get("after")
        if after:
            queryset = queryset.filter(self._past(self._anchor(queryset, after)))
        rows = list(queryset.order_by(*self.ordering)[: limit + 1])
        self.has_more = len(rows) > limit
        rows = rows[:limit]
        self.next_id = str(rows[-1].pk) if self.has_more else None
        return rows

    def get_paginated_response(self, data: Any) -> Response:
        return Response({"object": "list", "data": data, "has_more": self.has_more, "next": self.next_id})

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        return page_schema(schema)

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        return [
            {"name": "after", "in": "query", "schema": {"type": "string"}, "description": "Id of the last row seen."},
            {
                "name": "limit",
                "in": "query",
                "schema": {
                    "type": "integer", "minimum": 1, "maximum": self.max_limit, "default": self.default_limit
                },
                "description": "Largest number of rows.",
            },
        ]  # fmt: skip

    def _anchor(self, queryset: QuerySet, after: str) -> Model:
        field = queryset.model._meta.pk
        try:
            key = field.to_python(after)
            anchor = None if "\0" in after else queryset.filter(pk=key).first()
        except (ValueError, TypeError, ValidationError):
            anchor = None
        if anchor is None:
            raise invalid("/after", "after must be the id of a row of this list.", code="invalid_cursor")
        return anchor

    def _past(self, anchor: Model) -> Q:
        """Rows behind ``anchor``: (a, b) < (a0, b0) spelt out, since the directions may differ."""
        condition, equal = Q(pk__in=[]), Q()
        for name in self.ordering:
            field = name.lstrip("-")
            value = getattr(anchor, field)
            condition |= equal & Q(**{f"{field}__{'lt' if name.startswith('-') else 'gt'}": value})
            equal &= Q(**{field: value})
        return condition


def page_schema(item: dict[str, Any]) -> dict[str, Any]:
    """OpenAPI of a page: ``item`` is the schema of its ``data`` array."""
    return {
        "type": "object",
        "required": ["object", "data", "has_more", "next"],
        "properties": {
            "object": {"type": "string", "enum": ["list"]},
            "data": item,
            "has_more": {"type": "boolean"},
            "next": {"type": ["string", "null"], "description": "The `after` of the next page."},
        },
    }
