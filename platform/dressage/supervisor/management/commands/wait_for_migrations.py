"""``manage.py wait_for_migrations``: for processes that start at the same time as their release's migrations."""

import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError, connection
from django.db.migrations.executor import MigrationExecutor


class Command(BaseCommand):
    """Waits until the database has all migrations of this release; later ones do not matter."""

    help = "Return once the database has all migrations of this release."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--seconds", type=float, default=900.0, help="give up after this time (default 900)")

    def handle(self, *args: Any, **options: Any) -> None:
        deadline = time.monotonic() + options["seconds"]
        while reason := _what_is_missing():
            if time.monotonic() > deadline:
                raise CommandError(f"{reason} Check the log of `manage.py migrate`, which should have run by now.")
            time.sleep(1.0)


def _what_is_missing() -> str | None:
    """A sentence about what is missing; None if nothing is."""
    try:
        executor = MigrationExecutor(connection)
    except OperationalError as error:
        connection.close()
        return f"The database does not answer: {str(error).strip()}."
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if not plan:
        return None
    first = plan[0][0]
    return f"The database lacks {len(plan)} migrations of this release, the first {first.app_label}.{first.name}."
