"""Celery tasks of datasets."""

import time

from celery import shared_task
from django.conf import settings

from dressage.datasets.checking import process
from dressage.datasets.imports import files
from dressage.datasets.models import DatasetVersion
from dressage.datasets.search import building
from dressage.datasets.uploads import services as uploads
from dressage.datasets.versions import retention


@shared_task(name="datasets.sweep_uploads")
def sweep_uploads() -> None:
    """Sent by beat. May be repeated or run concurrently."""
    uploads.sweep(time.time())
    process.sweep(settings.DATASET_ROOT, time.time())
    files.sweep(time.time())


@shared_task(name="datasets.sweep_versions")
def sweep_versions() -> None:
    """Sent by beat. May be repeated or run concurrently."""
    retention.sweep()


@shared_task(name=building.TASK)
def make_index(version_id: str) -> None:
    """Build the index of a version's rows.

    Repeating it does nothing. If a task is lost, the next search sends another.
    """
    version = DatasetVersion.objects.filter(pk=version_id, deleted_at=None).first()
    if version is not None:
        building.make(version)
