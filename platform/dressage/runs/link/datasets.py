"""Dataset files for workers, and the row notes with which a run starts."""

import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from django.http.response import HttpResponseBase
from rest_framework.request import Request

from dressage.common.api.problems import not_found
from dressage.common.api.ranges import download, read_part
from dressage.datasets.models import DatasetVersion
from dressage.datasets.selectors import version_by_ref
from dressage.datasets.versions import notes
from dressage.teams.models import Team
from trainer_core.link.bundle import DatasetRef, NotesRef
from trainer_core.spec import RunSpec
from trainer_core.spec.data.curriculum import reads_notes


def dataset_refs(
    spec: RunSpec, versions: Mapping[str, DatasetVersion], address: str, *, afresh: bool
) -> dict[str, DatasetRef]:
    """Datasets of a bundle.

    Args:
        spec: the run's spec.
        versions: the dataset versions that its references name.
        address: URL from which its worker fetches them.
        afresh: whether it starts without prior knowledge: a run that continues has its priors in the checkpoint.
    """
    trained = {source.dataset for source in spec.data.sources} if afresh and reads_notes(spec.curriculum) else set()
    noted = {ref for ref, version in versions.items() if ref in trained and notes.difficulty(version) is not None}
    return {
        ref: DatasetRef(
            url=f"{address}/{ref}",
            sha256=version.sha256,
            rows=version.rows,
            **({"difficulty": NotesRef(url=f"{address}/{ref}/difficulty")} if ref in noted else {}),
        )
        for ref, version in versions.items()
    }


def send_dataset(request: Request, team: Team, ref: str) -> HttpResponseBase:
    """The Parquet file of a dataset version that the team may read, or was allowed to read when it started to use it.

    Raises a 404 problem if it is gone.
    """
    try:
        path = version_by_ref(team, ref, new=False).path
    except LookupError as error:
        raise not_found("dataset version") from error
    return _send(request, path, "dataset version")


def send_difficulty(request: Request, team: Team, ref: str) -> HttpResponseBase:
    """The Parquet file of a version's row notes ``difficulty``. Raises a 404 problem if they are gone."""
    try:
        found = notes.named(version_by_ref(team, ref, new=False), "difficulty")
    except LookupError as error:
        raise not_found("dataset version") from error
    return _send(request, found.path, "row notes")


def _send(request: Request, path: Path, what: str) -> HttpResponseBase:
    try:
        file = path.open("rb")
    except FileNotFoundError as error:
        raise not_found(what) from error
    return download(
        request._request,
        partial(read_part, file),
        size=os.fstat(file.fileno()).st_size,
        etag=path.stem,  # the hash of the content, or the id of notes that never change
        content_type="application/vnd.apache.parquet",
        close=file.close,
    )
