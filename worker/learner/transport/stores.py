"""Stores for weight files: a folder that all hosts see, or a bucket. Both hold versions, which hold files."""

from __future__ import annotations

import io
import os
import re
import secrets
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

ADDRESS = re.compile(r"s3://([a-z0-9][a-z0-9.\-]{1,61}[a-z0-9])(?:/([^\s\\?#]*?))?/*")
"""``s3://bucket/prefix``."""
_CHUNK = 8 << 20


class Store(Protocol):
    """File storage that belongs to one run."""

    def fault(self) -> str | None:
        """Reason why the store is not writable, as a clause; None if it is. Leaves nothing behind."""

    def put(self, version: str, name: str, content: bytes) -> None:
        """Write a file of an unfinished version. Raises ``RuntimeError``, like all following methods."""

    def finish(self, version: str) -> None:
        """Make a version readable, with all of its files."""

    def get(self, version: str, name: str) -> int:
        """A file descriptor for a file of a finished version; the caller closes it."""

    def remove(self, version: str) -> None:
        """Remove a version, if it is there."""

    def clear(self) -> None:
        """Remove all versions of the run, finished or not."""


def store(location: str, folder: str) -> Store:
    """The run's own part of a location.

    Args:
        location: an absolute path, or ``s3://bucket/prefix``.
        folder: name of the run's part.
    """
    return BucketStore(location, folder) if location.startswith("s3://") else FolderStore(Path(location) / folder)


class FolderStore:
    """A folder of its own that only its owner can list."""

    def __init__(self, root: Path) -> None:
        """``root``: created when needed; its parent folder must exist."""
        self._root = root

    def fault(self) -> str | None:
        """See ``Store``."""
        above = self._root.parent
        if not above.is_absolute() or not above.is_dir():
            return f"the folder {above} does not exist on this host"
        probe = above / f".{secrets.token_hex(8)}.probe"
        try:
            probe.mkdir(mode=0o700)
            probe.rmdir()
        except OSError as error:
            return f"{above} is not writable: {error.strerror}"
        return None

    def put(self, version: str, name: str, content: bytes) -> None:
        """See ``Store``."""
        with _told(f"written to {self._root}"):
            self._own()
            part = self._part(version)
            part.mkdir(mode=0o700, exist_ok=True)
            opened = os.open(part / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with os.fdopen(opened, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())

    def finish(self, version: str) -> None:
        """See ``Store``."""
        with _told(f"written to {self._root}"):
            self._part(version).rename(self._root / version)

    def get(self, version: str, name: str) -> int:
        """See ``Store``."""
        with _told(f"read from {self._root / version}"):
            return os.open(self._root / version / name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)

    def remove(self, version: str) -> None:
        """See ``Store``."""
        doomed = self._root / version
        with _told(f"removed from {self._root}"):
            if doomed.exists():
                # Renamed first, so that no reader finds a half-deleted version.
                shutil.rmtree(doomed.rename(self._part(version)))

    def clear(self) -> None:
        """See ``Store``."""
        with _told(f"removed from {self._root}"):
            if self._root.is_symlink():
                raise RuntimeError(f"{self._root} is a link, which runs never create")
            if self._root.exists():
                shutil.rmtree(self._root)

    def _own(self) -> None:
        self._root.mkdir(mode=0o700, exist_ok=True)
        found = self._root.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
            raise RuntimeError(f"{self._root} is not a private folder of this user: weights are not written there")

    def _part(self, version: str) -> Path:
        return self._root / f".{version}.part"


class BucketStore:
    """Objects under a prefix, with the credentials that the node's environment provides to Amazon's client."""

    def __init__(self, location: str, folder: str) -> None:
        """``location``: ``s3://bucket/prefix``."""
        found = ADDRESS.fullmatch(location)
        self._fault = (
            None if found else (f"{location!r} is not the address of a folder in a bucket, such as s3://bucket/one")
        )
        self._bucket, prefix = (found[1], found[2]) if found else ("", "")
        self._prefix = f"{prefix}/{folder}" if prefix else folder
        self._made: Any = None

    def fault(self) -> str | None:
        """See ``Store``."""
        if self._fault is not None:
            return self._fault
        try:
            key = self._key("probe", secrets.token_hex(8))
            with self._asked("written to"):
                self._client.put_object(Bucket=self._bucket, Key=key, Body=b"")
                self._client.delete_object(Bucket=self._bucket, Key=key)
        except RuntimeError as error:
            return str(error)
        return None

    def put(self, version: str, name: str, content: bytes) -> None:
        """See ``Store``."""
        with self._asked("written to"):
            self._client.upload_fileobj(io.BytesIO(content), self._bucket, self._key(version, name))

    def finish(self, version: str) -> None:
        """Do nothing: the manifest is written last, so a reader that finds it finds the rest."""

    def get(self, version: str, name: str) -> int:
        """See ``Store``. The object's bytes are only in memory."""
        opened = os.memfd_create("dressage-weights", os.MFD_CLOEXEC)
        try:
            with self._asked("read from"), os.fdopen(os.dup(opened), "wb") as file:
                body = self._client.get_object(Bucket=self._bucket, Key=self._key(version, name))["Body"]
                for chunk in body.iter_chunks(_CHUNK):
                    file.write(chunk)
        except BaseException:
            os.close(opened)
            raise
        return opened

    def remove(self, version: str) -> None:
        """See ``Store``."""
        self._remove(self._key(version, ""))

    def clear(self) -> None:
        """See ``Store``."""
        self._remove(f"{self._prefix}/")

    def _remove(self, prefix: str) -> None:
        with self._asked("removed from"):
            pages = self._client.get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=prefix)
            for page in pages:
                # The manifest first: without it no reader starts to read.
                keys = sorted((one["Key"] for one in page.get("Contents", ())), key=lambda key: ".json" not in key)
                for key in keys:
                    self._client.delete_object(Bucket=self._bucket, Key=key)

    def _key(self, version: str, name: str) -> str:
        return f"{self._prefix}/{version}/{name}"

    @property
    def _client(self) -> Any:
        if self._made is None:
            import boto3
            from botocore.config import Config

            endpoint = os.environ.get("AWS_ENDPOINT_URL") or None
            style = "path" if endpoint else "auto"
            retries = {"mode": "standard", "total_max_attempts": 4}
            config = Config(connect_timeout=10, read_timeout=60, retries=retries, s3={"addressing_style": style})
            region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "us-east-1"
            # A separate session: creating clients from a shared one is not thread-safe.
            session = boto3.session.Session()
            self._made = session.client("s3", endpoint_url=endpoint, region_name=region, config=config)
        return self._made

    @contextmanager
    def _asked(self, what: str) -> Iterator[None]:
        """Convert the client's errors to ours."""
        from boto3.exceptions import Boto3Error
        from botocore.exceptions import BotoCoreError, ClientError

        where = f"s3://{self._bucket}/{self._prefix}"
        try:
            yield
        except ClientError as error:
            code = error.response.get("Error", {}).get("Code", "")
            raise RuntimeError(f"weights cannot be {what} {where}: the object store answers {code}") from error
        except (Boto3Error, BotoCoreError) as error:
            raise RuntimeError(f"weights cannot be {what} {where}: {error}") from error


@contextmanager
def _told(what: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise RuntimeError(f"weights cannot be {what}: {error.filename} does not exist") from error
    except OSError as error:
        raise RuntimeError(f"weights cannot be {what}: {error.strerror}") from error
