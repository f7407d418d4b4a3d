"""Who waits for locks in the database of a test."""

from django.db import connection


def another_waits(kind: str = "%") -> bool:
    """Whether another connection to this test's database waits for a lock. ``kind``: see ``waiting``."""
    return waiting(kind) > 0


def waiting(kind: str = "%") -> int:
    """How many connections to this test's database wait for a lock.

    Args:
        kind: what it waits for, as PostgreSQL names the event: ``advisory``, ``transactionid``, …
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")  # within a transaction, the view would stay as first read
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event_type = 'Lock' AND wait_event LIKE %s",
            [kind],
        )
        return int(cursor.fetchone()[0])
