"""Annotations whose SQL is generated once: for some, Django takes longer to generate it than PostgreSQL to run it."""

from typing import Any

from django.db import connection
from django.db.models import QuerySet
from django.db.models.expressions import RawSQL


def compiled(queryset: QuerySet[Any]) -> dict[str, RawSQL]:
    """The annotations of ``queryset`` as SQL.

    Use them only on querysets of the same model that do not join the model to itself, and not inside of other queries:
    the SQL names the model's table.
    """
    query = queryset.query
    compiler = query.get_compiler(connection=connection)
    found = {}
    for name, annotation in query.annotations.items():
        sql, params = compiler.compile(annotation)
        found[name] = RawSQL(sql, params, annotation.output_field)  # nosec B611: written by Django
    return found
