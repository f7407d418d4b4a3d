"""What tables hold, to be compared with what they hold later."""

from collections.abc import Iterable

from django.db import connection
from django.db.models import Model

Digest = tuple[str, int, str]
"""A table's name, the number of its rows, and a digest of them all."""


def digests(models: Iterable[type[Model]], hidden: Iterable[str] = ()) -> list[Digest]:
    """A digest of each model's rows, by one query.

    Args:
        models: whose tables are read.
        hidden: columns whose changes do not count.
    """
    tables = [model._meta.db_table for model in models]
    query = " UNION ALL ".join(
        "SELECT %s, count(*), md5(coalesce(string_agg(value, ',' ORDER BY value), ''))"
        f" FROM (SELECT (to_jsonb(r) - %s::text[])::text AS value FROM {connection.ops.quote_name(table)} r)"
        for table in tables
    )
    names = list(hidden)
    with connection.cursor() as cursor:
        cursor.execute(query, [value for table in tables for value in (table, names)])
        return sorted(cursor.fetchall())
