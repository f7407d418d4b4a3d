"""Runs: list, read, create."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from uuid import uuid4

from pydantic import ValidationError

from dressage_sdk.connection import Connection
from dressage_sdk.errors import DressageError, FieldError
from dressage_sdk.models import Run, RunDetails, RunPage
from trainer_core.spec.faults import join, pydantic_errors

if TYPE_CHECKING:
    from trainer_core.spec.run import RunSpec

MAX_PAGE = 200
"""Largest page that the platform sends."""


class RunsApi:
    """The runs of the token's team."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def list(self, *, state: str | Iterable[str] | None = None, page_size: int = 50) -> Iterator[Run]:
        """Runs, newest first. Pages are requested while you iterate, and only as many as you read.

        Args:
            state: only runs in this state, or in one of these.
            page_size: runs per request, from 1 to 200.

        Raises:
            DressageError: at the first item of a page that the platform refuses, such as 422 for an unknown state.
        """
        params: dict[str, Any] = {"limit": page_size}
        if state is not None:
            params["state"] = state if isinstance(state, str) else ",".join(state)
        while True:
            page = self._connection.get(RunPage, "/runs", params)
            yield from page.data
            if page.next is None:
                return
            params["after"] = page.next

    def get(self, run_id: str) -> RunDetails:
        """A run with its spec. Raises DressageError; its status is 404 if the team has no such run."""
        return self._connection.get(RunDetails, f"/runs/{quote(run_id, safe='')}")

    def create(
        self,
        name: str,
        spec: "RunSpec | Mapping[str, Any]",
        *,
        cluster: str | None = None,
        start: bool = False,
        check: bool = True,
        idempotency_key: str | None = None,
    ) -> RunDetails:
        """Create a run. It is created once, however often the request has to be repeated.

        Args:
            name: name for people.
            spec: what to train. A mapping is sent as it is, so that the platform fills in its own defaults.
            cluster: where to train; None: the platform chooses.
            start: queue it immediately, which needs the role operator; otherwise it is a draft.
            check: validate the spec before it is sent. False leaves that to the platform, whose plug-ins or release
                may know methods that are unknown here.
            idempotency_key: name of this intention, up to 255 printable ASCII characters. The same key within a day
                returns the run that was created first; by default every call has a key of its own.

        Raises:
            DressageError: the spec is invalid (without a status if it was found here), or the platform refuses.
        """
        body = {"name": name, "spec": _document(spec, check), "cluster": cluster, "start": start}
        return self._connection.post(RunDetails, "/runs", body, idempotency_key=idempotency_key or str(uuid4()))


def _document(spec: "RunSpec | Mapping[str, Any]", check: bool) -> dict[str, Any]:
    """The spec as JSON. Raises DressageError for one that is checked and invalid."""
    if not isinstance(spec, Mapping):
        return spec.model_dump(mode="json")
    if check:
        _check(spec)
    return dict(spec)


def _check(spec: Mapping[str, Any]) -> None:
    from trainer_core.spec.run import RunSpec  # it takes longer to load than a list of runs

    try:
        RunSpec.model_validate(spec)
    except ValidationError as error:
        faults = [FieldError(join("spec", *path), text) for path, text in pydantic_errors(error, spec, RunSpec)]
        raise DressageError("Invalid spec", "It was not sent.", code="invalid", errors=faults) from error
