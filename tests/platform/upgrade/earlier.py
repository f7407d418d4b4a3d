"""What a migration takes away from the release of before, which still runs while the installation is upgraded.

Processes are replaced one after the other: for minutes, code of before reads and writes the new tables. So a migration
may add and widen. What takes away comes a release later: first the code stops to use a column
(``SeparateDatabaseAndState`` takes it from Django's view alone, and the column is given a default), then, in a later
release, a migration drops it and says so in ``no_code_uses``, a sentence that names the release since which nothing
reads or writes it.
"""

import re
from collections.abc import Iterator

from django.db import connection, models
from django.db.migrations import Migration, operations
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState
from django.db.models.fields import NOT_PROVIDED

_TAKES_AWAY = re.compile(
    r"\b(DROP\s+(TABLE|COLUMN)|RENAME\b|SET\s+NOT\s+NULL|ALTER\s+COLUMN\s+\S+\s+TYPE)", re.IGNORECASE
)


def faults(migration: Migration, state: ProjectState) -> Iterator[str]:
    """Sentences on the operations that the release of before cannot live with.

    Args:
        migration: the migration.
        state: the models before it; brought to those after it.
    """
    excused = bool(getattr(migration, "no_code_uses", ""))
    created: set[str] = set()
    for operation in migration.operations:
        if isinstance(operation, operations.CreateModel):
            created.add(operation.name_lower)
        for fault in () if excused else _of(operation, migration.app_label, state, created):
            yield f"{migration.app_label}.{migration.name}: {fault}"
        operation.state_forwards(migration.app_label, state)


def _of(operation: Operation, app: str, state: ProjectState, created: set[str]) -> Iterator[str]:
    """The faults of one operation. What it does to a table that is as new as itself harms nobody."""
    if isinstance(operation, operations.SeparateDatabaseAndState):
        for inner in operation.database_operations:
            yield from _of(inner, app, state, created)
        return
    if getattr(operation, "model_name_lower", None) in created:
        return
    match operation:
        case operations.RunSQL():
            if found := _TAKES_AWAY.search(str(operation.sql)):
                yield f"its SQL has {found[0]!r}"
        case operations.DeleteModel():
            yield f"drops the table of {operation.name}"
        case operations.RenameModel():
            yield f"renames the table of {operation.old_name}"
        case operations.AlterModelTable():
            yield f"renames the table of {operation.name}"
        case operations.RemoveField():
            yield f"drops {operation.model_name}.{operation.name}"
        case operations.RenameField():
            before = _field(state, app, operation.model_name, operation.old_name)
            if before.db_column is None:
                yield f"renames {operation.model_name}.{operation.old_name}"
        case operations.AddField():
            if _must_be_given(operation.field):
                name = f"{operation.model_name}.{operation.name}"
                yield f"adds {name}, which must be given: let it be null, or give it db_default"
        case operations.AlterField():
            before = _field(state, app, operation.model_name, operation.name)
            yield from _narrowed(f"{operation.model_name}.{operation.name}", before, operation.field)
        case operations.AddConstraint():
            name = operation.constraint.name
            yield f"adds the constraint {name} on {operation.model_name}, which rows of before may break"
        case operations.AlterUniqueTogether():
            yield f"changes what is unique in {operation.name}, which rows of before may break"


def _field(state: ProjectState, app: str, model: str, name: str) -> models.Field:  # type: ignore[type-arg]
    return state.models[app, model.lower()].fields[name]


def _must_be_given(field: models.Field) -> bool:  # type: ignore[type-arg]
    """Whether an INSERT that does not name the column fails: Django takes its own default away once it has migrated."""
    is_column = not field.many_to_many
    return is_column and not field.null and field.db_default is NOT_PROVIDED and not field.generated


def _narrowed(name: str, before: models.Field, after: models.Field) -> Iterator[str]:  # type: ignore[type-arg]
    if before.null and not after.null and after.db_default is NOT_PROVIDED:
        yield f"{name} may no longer be null, which code of before writes"
    if after.unique and not before.unique:
        yield f"{name} becomes unique, which rows of before may break"
    kinds = [field.db_type(connection) for field in (before, after)]
    texts = [(kind or "").split("(")[0] in ("varchar", "text") for kind in kinds]
    if kinds[0] == kinds[1] or (before.is_relation and after.is_relation):
        return
    longest = [getattr(field, "max_length", None) or float("inf") for field in (before, after)]
    if not all(texts) or longest[1] < longest[0]:
        yield f"{name} becomes {kinds[1]}, which was {kinds[0]}"
