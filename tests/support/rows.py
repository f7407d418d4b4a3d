"""The database of a real installation, asked directly: a Django shell takes seconds to start."""

from typing import Any, LiteralString

import psycopg

from dressage.embedded.postgres import EmbeddedPostgres
from tests.support.installation import Installation


def rows(installation: Installation, statement: LiteralString, *values: Any) -> list[tuple[Any, ...]]:
    """The rows that a statement returns; none for one that changes rows."""
    with psycopg.connect(EmbeddedPostgres(installation.home).url) as connection:
        cursor = connection.execute(statement, values)
        return cursor.fetchall() if cursor.description else []
