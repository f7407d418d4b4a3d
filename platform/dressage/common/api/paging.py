"""Lists by cursor: ``?after=<id>&limit=`` returns ``{object: "list", data, has_more, next}``."""

from itertools import groupby
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import BooleanField, F, Func, Q, QuerySet, Value
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response

from dressage.common.api.problems import invalid
from dressage.common.api.query import Parameter, Query, Text, Whole

DEFAULT_LIMIT = 50
MAX_LIMIT = 200
LIMIT = Whole(name="limit", least=1, most=MAX_LIMIT, default=DEFAULT_LIMIT, description="Largest number of rows.")
AFTER = Text(name="after", longest=40, code="invalid_cursor", description="Id of the last row seen.")


def page_query(*parameters: Parameter) -> Query:
    """The query of a list by cursor, with additional parameters."""
    return Query.of(AFTER, LIMIT, *parameters)


class CursorPage(BasePagination):
    """Keyset paging: exact under concurrent inserts, equally fast on every page.

    ``after`` is the id of the last row seen. A subclass may set another ``ordering``; its last field must be unique. An
    index must cover the filters of the list, followed by these fields in these directions, so that a page reads no more
    rows than it shows.
    """

    ordering: tuple[str, ...] = ("-created_at", "-id")
    has_more = False
    next_id: str | None = None

    def paginate_queryset(  # type: ignore[override]  # a cursor is a condition: lists cannot be paged by it
        self, queryset: QuerySet, request: Request, view: Any = None
    ) -> list[Any]:
        """The rows of this page, as requested by ``view.query``. Raises a 422 problem for an unknown cursor."""
        limit, after = view.query["limit"], view.query["after"]
        stretches = [Q()] if after is None else self._past(self._anchor(queryset, after))
        rows: list[Any] = []
        for stretch in stretches:
            if len(rows) <= limit:
                rows += queryset.filter(stretch).order_by(*self.ordering)[: limit + 1 - len(rows)]
        self.has_more = len(rows) > limit
        rows = rows[:limit]
        self.next_id = str(rows[-1].pk) if self.has_more else None
        return rows

    def get_paginated_response(self, data: Any) -> Response:
        return Response({"object": "list", "data": data, "has_more": self.has_more, "next": self.next_id})

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        return page_schema(schema)

    def _anchor(self, queryset: QuerySet, after: str) -> dict[str, Any]:
        """Ordering values of the row ``after``. Raises a 422 problem unless it is a row of this list."""
        field = queryset.model._meta.pk
        try:
            key = field.to_python(after)
            names = [name.lstrip("-") for name in self.ordering]
            anchor = None if "\0" in after else queryset.filter(pk=key).values(*names).first()
        except (ValueError, TypeError, ValidationError):
            anchor = None
        if anchor is None:
            raise invalid("/after", "after must be the id of a row of this list.", code="invalid_cursor")
        return anchor

    def _past(self, anchor: dict[str, Any]) -> list[Q]:
        """Stretches of the list after ``anchor``, in order.

        There is one stretch if all fields have the same direction. PostgreSQL compares rows of values in one direction
        only, so the fields are grouped by direction, with one stretch per group. Rows that are equal in the preceding
        groups come first.
        """
        found: list[Q] = []
        equal = Q()
        for descending, part in groupby(self.ordering, lambda name: name.startswith("-")):
            names = [name.lstrip("-") for name in part]
            values = [anchor[name] for name in names]
            found.insert(0, equal & Q(_compared(names, "<" if descending else ">", values)))
            equal &= Q(**dict(zip(names, values, strict=True)))
        return found


def _compared(names: list[str], sign: str, values: list[Any]) -> Func:
    """``(a, b) < (x, y)``: as a row of values, an index scan can start exactly where the page begins."""
    row = [Func(*parts, template="(%(expressions)s)") for parts in (map(F, names), map(Value, values))]
    return Func(*row, template="%(expressions)s", arg_joiner=f" {sign} ", output_field=BooleanField())


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
