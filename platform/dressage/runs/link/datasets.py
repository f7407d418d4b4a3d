"""Dataset files for workers."""

import os
from functools import partial

from django.http.response import HttpResponseBase
from rest_framework.request import Request

from dressage.common.problems import not_found
from dressage.common.ranges import download, read_part
from dressage.datasets.selectors import version_by_ref
from dressage.teams.models import Team


def send_dataset(request: Request, team: Team, ref: str) -> HttpResponseBase:
    """The Parquet file of a dataset version of the team. Raises a 404 problem where it is gone."""
    try:
        path = version_by_ref(team, ref).path
        file = path.open("rb")
    except (LookupError, FileNotFoundError) as error:
        raise not_found("dataset version") from error
    return download(
        request._request,
        partial(read_part, file),
        size=os.fstat(file.fileno()).st_size,
        etag=path.stem,  # the hash of what is in it
        content_type="application/vnd.apache.parquet",
        close=file.close,
    )
