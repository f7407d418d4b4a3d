"""Celery tasks of policies."""

import time

from celery import shared_task

from dressage.imports.sweep import sweep_imports
from dressage.policies import leftovers
from dressage.policies.imports.carry_out import carry_out
from dressage.policies.models import PolicyImport


@shared_task(name="policies.sweep_leftovers")
def sweep_leftovers() -> None:
    """Sent by beat; may be repeated or run twice at once."""
    leftovers.sweep(time.time())


# Acknowledged at once: an import may take longer than a queue waits for it, and the sweep asks again by itself.
@shared_task(name=PolicyImport.task, acks_late=False)
def import_policy(import_id: str) -> None:
    """Go on with an import; may be repeated or run twice at once."""
    carry_out(import_id)


@shared_task(name="policies.sweep_imports")
def sweep_of_imports() -> None:
    """Sent by beat; may be repeated or run twice at once."""
    sweep_imports(PolicyImport)
