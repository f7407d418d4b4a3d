"""Inputs of a run, fetched from the platform: the bundle, and the datasets it names."""

import hashlib
import io
import json
import os
import stat
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import httpx
import pyarrow.parquet as parquet
from pydantic import ValidationError

from trainer_core.link import version
from trainer_core.link.bundle import Bundle, DatasetRef, NotesRef
from trainer_core.link.refusal import FENCED_OR_GONE
from trainer_core.rewards.matching import mismatches
from trainer_core.steering.curriculum.prior import Prior, measured
from worker.errors import FencedError, StartError
from worker.link.answers import objection, refusal

RETRY_S = 1.0


class Platform:
    """The reading half of the link: bundle and datasets."""

    def __init__(self, url: str, token: str, run_id: str, cache: Path | None = None) -> None:
        self._url, self._run_id = url.rstrip("/") + "/", run_id
        self._client = httpx.Client(headers={"Authorization": f"Bearer {token}", **version.header()}, timeout=30.0)
        self.objection: str | None = None
        """Reason why this worker cannot work with the platform, as a sentence, or None. Set with the bundle."""
        self._cache = cache or Path(tempfile.gettempdir()) / f"dressage-cache-{os.getuid()}"

    def fetch_bundle(self, stopped: Callable[[], bool] = lambda: False) -> dict[str, Any]:
        """The bundle as sent. Waits for a platform that is away.

        Raises:
            FencedError: the attempt is stale, revoked or unknown, or ``stopped`` says so.
        """
        while not stopped():
            try:
                response = self._client.get(urljoin(self._url, f"api/v1/link/runs/{self._run_id}/bundle"))
                if response.status_code in FENCED_OR_GONE:
                    raise FencedError(f"the platform refuses the bundle: {refusal(response)}")
                response.raise_for_status()
                self.objection = objection(response)
                return dict(response.json())
            except httpx.HTTPError:
                time.sleep(RETRY_S)
        raise FencedError("stopped before the bundle arrived")

    def rows(self, name: str, dataset: DatasetRef) -> list[dict[str, Any]]:
        """The rows of a dataset version, from the local cache or downloaded into it.

        Raises:
            StartError: the file cannot be fetched, does not match its hash, or cannot be read.
        """
        self._open_cache()
        path = self._cache / f"{dataset.sha256}.parquet"
        if not path.exists() or _sha256(path) != dataset.sha256:
            self._download(name, dataset, path)
        try:
            column = parquet.read_table(path, columns=["row"]).column("row").to_pylist()
            rows = [json.loads(text) for text in column]
        except (OSError, ValueError, KeyError) as error:
            raise StartError(f"The dataset {name} cannot be read: {error}") from error
        if len(rows) != dataset.rows:
            raise StartError(f"The dataset {name} has {len(rows)} rows, but the platform reports {dataset.rows}.")
        return rows

    def difficulty(self, name: str, notes: NotesRef, rows: int) -> Prior[int]:
        """Pass rates in the row notes ``difficulty`` of a dataset version, by row index.

        Args:
            name: the version, for messages.
            notes: the location of the notes.
            rows: number of rows in the version.

        Raises:
            StartError: the notes cannot be fetched or read, or are for another number of rows.
        """
        try:
            response = self._client.get(urljoin(self._url, notes.url))
            response.raise_for_status()
            table = parquet.read_table(io.BytesIO(response.content), columns=["pass_rate", "samples"])
            found = measured(table.column("pass_rate").to_pylist(), table.column("samples").to_pylist())
        except (httpx.HTTPError, OSError, ValueError, KeyError) as error:
            raise StartError(f"The row notes 'difficulty' of {name} cannot be read: {error}") from error
        if table.num_rows != rows:
            raise StartError(f"The row notes 'difficulty' of {name} have {table.num_rows} rows, the dataset {rows}.")
        return found

    def close(self) -> None:
        self._client.close()

    def _open_cache(self) -> None:
        """Create the cache folder. Raises StartError if it belongs to another user, who could read and change it."""
        self._cache.mkdir(parents=True, exist_ok=True, mode=0o700)
        found = self._cache.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
            raise StartError(f"The dataset cache folder {self._cache} does not belong to this user: remove it.")
        self._cache.chmod(0o700)

    def _download(self, name: str, dataset: DatasetRef, path: Path) -> None:
        digest = hashlib.sha256()
        try:
            with (
                self._client.stream("GET", urljoin(self._url, dataset.url)) as response,
                tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as part,
            ):
                response.raise_for_status()
                for block in response.iter_bytes():
                    digest.update(block)
                    part.write(block)
        except httpx.HTTPError as error:
            raise StartError(f"The dataset {name} cannot be downloaded: {error}") from error
        if digest.hexdigest() != dataset.sha256:
            os.unlink(part.name)
            raise StartError(f"The dataset {name} does not match its SHA-256: the file is damaged.")
        os.rename(part.name, path)


def parse_bundle(document: dict[str, Any]) -> Bundle:
    """Validate the bundle.

    Raises:
        StartError: the spec or another part is not valid here; names the field.
    """
    try:
        bundle = Bundle.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        if first["type"] == "union_tag_invalid":
            # The platform accepted the spec, so it knows the type: a plug-in is installed there but not here.
            raise StartError(
                f"The platform knows {first['ctx']['tag']!r} (at {where}), and this machine does not: install the"
                " plug-in's package in the workers' environment too."
            ) from error
        raise StartError(f"The run's description is not valid: {first['msg']} (at {where})") from error
    if bundle.spec.examples is None and bundle.reward is None:
        raise StartError("The run's description is not valid: it names a reward without its definition.")
    for path, message in [] if bundle.reward is None else mismatches(bundle.spec, bundle.reward.definition):
        where = ".".join(str(part) for part in ("spec", *path))
        raise StartError(f"The run's description is not valid: {message} (at {where})")
    if bundle.spec.distillation is not None and bundle.teacher is None:
        raise StartError("The run's description is not valid: it names a teacher without its folder.")
    return bundle


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
