"""Stores the versions that syntheses create, together with the end of the job or not at all."""

import errno
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from django.db import connection

from dressage.common.actors import Actor
from dressage.common.api.problems import Problem
from dressage.common.slugs import slug_for
from dressage.datasets.derivation.operations import AddRows
from dressage.datasets.derivation.services import DerivedVersion, Into, derive, noted_query
from dressage.datasets.models import DatasetVersion
from dressage.datasets.services import require_free
from dressage.jobs.local import NotOurs, Stopping, Unfinished, own_locked, report
from dressage.lab.arguments import SynthesiseRows
from dressage.lab.child import ROWS
from dressage.lab.models import LabJob

_EVERY_S = 2.0
_BUSY = (429, 503)
_LONGEST = 56
"""Length of a slug that leaves room for a numeric suffix."""
_KEPT = (
    "All written and verified variations are kept: resume the job once there is space, and no model is queried again."
    " Cancelling deletes them."
)


class NotStored(Unfinished):
    """There is no room for the version now. The message is a sentence for the user who started the job."""


def store_version(job: LabJob, folder: Path, finish: Callable[[LabJob, DatasetVersion | None], None]) -> None:
    """Create the version of a job's verified rows, if there are any, and finish the job with it.

    Args:
        job: the job, claimed by the calling worker.
        folder: the job's folder, with the rows that its process wrote.
        finish: finishes the locked job, in the transaction of the version.

    Raises:
        NotOurs: the job has ended, or another worker has it. Nothing is stored.
        Stopping: too many files are being read, or its slug has just been taken: another worker tries again.
        NotStored: the team's quota or the disk is full. The rows stay in the folder.
        Problem: it cannot be stored, for a reason that the user can fix.
    """
    rows: list[Any] = json.loads((folder / ROWS).read_text())
    if not rows:
        finish(_locked(job), None)
        return
    operation = AddRows(name="synthesis", rows=rows, arguments=arguments_of(job))
    target = _target(job)

    def within(store: Callable[[], list[DerivedVersion]]) -> list[DerivedVersion]:
        locked = _locked(job)
        results = store()
        made = results[0]
        version = DatasetVersion.objects.get(dataset=made["dataset_id"], number=made["number"])
        finish(locked, version)
        return results

    try:
        with _heard(job):
            derive(job.team, job.version, Actor(**job.actor), operation, into=target, within=within)
    except Problem as problem:
        if problem.status in _BUSY or problem.code == "slug_taken":
            raise Stopping from problem
        if problem.code == "dataset_quota":
            raise NotStored(f"{problem.detail} {_KEPT}") from problem
        raise
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise NotStored(f"The platform's disk is full: the operator must free space. {_KEPT}") from error


def _target(job: LabJob) -> Into | None:
    """The new dataset for the version, under another slug if its own has been taken in the meantime."""
    into = job.operation["into"]
    if into is None:
        return None
    wanted = slug_for(into["name"], into["slug"])
    for number in count(1):
        slug = wanted if number == 1 else f"{wanted[:_LONGEST]}-{number}"
        try:
            require_free(job.team, slug)
        except Problem:
            continue
        return Into(into["name"], slug)
    raise AssertionError("numbers have no end")


def arguments_of(job: LabJob) -> dict[str, Any]:
    """The arguments of a synthesis as the lineage stores them."""
    asked = SynthesiseRows.model_validate(job.operation)
    kept = asked.model_dump(mode="json", exclude={"kind", "into", "query"})
    return {"job": job.id, **kept, "query": noted_query(asked.query)}


def _locked(job: LabJob) -> LabJob:
    locked = own_locked(job)
    if locked is None:
        raise NotOurs
    return locked


@contextmanager
def _heard(job: LabJob) -> Iterator[None]:
    """Keep sending heartbeats while a file is written, which may take longer than the timeout for lost workers."""
    over = threading.Event()

    def tell() -> None:
        try:
            while not over.wait(_EVERY_S):
                report(job, stage="Writing the version", steps_done=0, steps_total=0)
        finally:
            connection.close()

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        over.set()
        teller.join()
