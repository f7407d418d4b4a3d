"""Folders in buckets of an S3-compatible object store, read and written with Amazon's own client.

The endpoint is the operator's; the credentials are the team's. Credentials of the platform's environment or machine are
never used, since they would give every team the operator's access.
"""

import base64
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, NamedTuple
from urllib.parse import urlsplit

import boto3
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError
from botocore.exceptions import ConnectionError as Unreachable
from django.conf import settings
from urllib3.exceptions import HTTPError

from dressage.imports.remote import (
    Checksum,
    ImportRefused,
    Listing,
    NetworkTrouble,
    RemoteFile,
    Tick,
)

ADDRESS = re.compile(r"s3://([a-z0-9][a-z0-9.\-]{1,61}[a-z0-9])(?:/([^\s\\?#]*?))?/*")
"""``s3://bucket/prefix``. An ARN or another host is not accepted."""
_CHUNK = 1 << 20
_MOST_OBJECTS = 2_000
_MD5 = re.compile(r"[0-9a-f]{32}")
_SHA256 = re.compile(r"[A-Za-z0-9+/]{43}=")
_PASSING = ("SlowDown", "RequestTimeout", "InternalError", "ServiceUnavailable", "500", "502", "503", "504", "429")


_HASH = "sha256"
"""Metadata key under which an object stores the hash of its content."""


class UploadedPart(NamedTuple):
    """A part of a multipart upload."""

    bytes: int
    tag: str


class BucketFolder:
    """The objects directly below one prefix."""

    _needed = "list or read"
    """Required permission, for the message when it is missing."""
    _permissions = "s3:ListBucket and s3:GetObject"

    def __init__(self, address: str, credentials: dict[str, str] | None) -> None:
        """
        Args:
            address: ``s3://bucket/prefix``.
            credentials: ``access_key_id`` and ``secret_access_key`` of the team; None for anonymous access, which
                public buckets allow.
        """
        match = ADDRESS.fullmatch(address)
        if match is None:
            raise ImportRefused(f"{address!r} is not the address of a folder in a bucket, such as s3://bucket/folder.")
        self._bucket, self._prefix = match[1], f"{match[2]}/" if match[2] else ""
        self._signed = credentials is not None
        self._client: Any = _client(credentials)

    def objects(self) -> dict[str, RemoteFile]:
        """The objects directly below the prefix, by name."""
        files: dict[str, RemoteFile] = {}
        with self._told(self._prefix):
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self._bucket, Prefix=self._prefix, Delimiter="/"
            )
            for page in pages:
                for entry in page.get("Contents", ()):
                    name = entry["Key"].removeprefix(self._prefix)
                    if name:
                        files[name] = RemoteFile(name, entry["Size"], None, entry["ETag"])
                if len(files) > _MOST_OBJECTS:
                    raise ImportRefused("There are more than 2,000 objects: give the folder of one policy.")
        return files

    @contextmanager
    def _told(self, name: str) -> Iterator[None]:
        """Converts the client's errors to ours."""
        try:
            yield
        except ClientError as error:
            raise self._by_code(_code_of(error), name) from error
        except (HTTPClientError, Unreachable, HTTPError) as error:
            raise NetworkTrouble(f"The connection to {_host()} failed ({type(error).__name__}).") from error
        except BotoCoreError as error:
            raise ImportRefused(f"{_host()} cannot be queried ({type(error).__name__}). Tell the operator.") from error

    def _by_code(self, code: str, name: str) -> Exception:
        if code in _PASSING:
            return NetworkTrouble(f"{_host()} currently answers {code}.")
        if code in ("AccessDenied", "403", "AllAccessDisabled"):
            who = "The team's credentials may" if self._signed else "Without credentials nobody may"
            return ImportRefused(
                f"{who} not {self._needed} s3://{self._bucket}/{self._prefix}. They need {self._permissions}; an admin"
                " must set them for the team."
            )
        if code in ("InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken", "401"):
            return ImportRefused(f"{_host()} refuses the team's credentials ({code}). An admin must enter new ones.")
        if code in ("NoSuchBucket", "NoSuchKey", "404"):
            what = f"the bucket {self._bucket!r}" if code == "NoSuchBucket" else name
            return ImportRefused(f"{_host()} does not have {what}. Check the address.")
        if code in ("PreconditionFailed", "412"):
            return ImportRefused(f"{name} was replaced during the download. Start a new import.")
        return ImportRefused(f"{_host()} answers {code or 'with an error'}. Check bucket, prefix and region.")


class BucketSource(BucketFolder):
    """A policy to import."""

    def listing(self) -> Listing:
        """The objects directly below the prefix."""
        files = self.objects()
        if not files:
            raise ImportRefused(f"No object at s3://{self._bucket}/{self._prefix}. Check bucket and prefix.")
        return Listing(files, "", "")

    def described(self, file: RemoteFile) -> RemoteFile:
        """The file with the store's checksum, if it has one of the whole content."""
        with self._told(file.name):
            head = self._client.head_object(Bucket=self._bucket, Key=self._prefix + file.name, ChecksumMode="ENABLED")
        sha256, tag = head.get("ChecksumSHA256", ""), file.tag.strip('"')
        if _SHA256.fullmatch(sha256):
            return replace(file, checksum=Checksum("sha256", base64.b64decode(sha256).hex()))
        # The entity tag of an object uploaded in one part is its MD5, unless the store encrypts with customer keys.
        if _MD5.fullmatch(tag) and head.get("ServerSideEncryption", "AES256") == "AES256":
            return replace(file, checksum=Checksum("md5", tag))
        return file

    def fetch(self, file: RemoteFile, target: Path, tick: Tick) -> None:
        """Append to ``target`` the missing bytes of the object, which must still be the one that was listed."""
        with target.open("ab") as out, self._told(file.name):
            if out.tell() == file.size:
                return
            answer = self._client.get_object(
                Bucket=self._bucket,
                Key=self._prefix + file.name,
                Range=f"bytes={out.tell()}-",
                IfMatch=file.tag,
            )
            for chunk in answer["Body"].iter_chunks(_CHUNK):
                out.write(chunk)
                tick()
            if out.tell() != file.size:
                raise NetworkTrouble(f"The object store sent only part of {file.name}.")


class BucketTarget(BucketFolder):
    """A folder to write to. Each object is written completely or not at all, and stores the SHA-256 of its content."""

    _needed = "list or write"
    _permissions = "s3:ListBucket, s3:GetObject, s3:PutObject and s3:AbortMultipartUpload"

    def holds(self, name: str, size: int, sha256: str) -> bool:
        """Whether an object with this content already exists, written by an earlier attempt."""
        with self._told(name):
            head = self._client.head_object(Bucket=self._bucket, Key=self._prefix + name)
        return head["ContentLength"] == size and head.get("Metadata", {}).get(_HASH) == sha256

    def put(self, name: str, content: IO[bytes], sha256: str) -> None:
        """Write a small object."""
        with self._told(name):
            self._client.put_object(
                Bucket=self._bucket, Key=self._prefix + name, Body=content, Metadata={_HASH: sha256}
            )

    def begin(self, name: str, sha256: str) -> str:
        """Start a multipart upload. Returns its id."""
        with self._told(name):
            begun = self._client.create_multipart_upload(
                Bucket=self._bucket, Key=self._prefix + name, Metadata={_HASH: sha256}
            )
        return str(begun["UploadId"])

    def parts(self, name: str, upload: str) -> dict[int, UploadedPart] | None:
        """The uploaded parts by number, from 1; None if the store no longer knows the upload."""
        found: dict[int, UploadedPart] = {}
        try:
            pages = self._client.get_paginator("list_parts").paginate(**self._upload(name, upload))
            with self._told(name):
                for page in pages:
                    for part in page.get("Parts", ()):
                        found[part["PartNumber"]] = UploadedPart(part["Size"], part["ETag"])
        except ImportRefused as error:
            if _code_of(error.__cause__) == "NoSuchUpload":
                return None
            raise
        return found

    def put_part(self, name: str, upload: str, number: int, content: IO[bytes]) -> str:
        """Upload a part. Returns its entity tag."""
        with self._told(name):
            answer = self._client.upload_part(**self._upload(name, upload), PartNumber=number, Body=content)
        return str(answer["ETag"])

    def complete(self, name: str, upload: str, tags: Mapping[int, str]) -> None:
        """Create the object from its parts."""
        parts = [{"PartNumber": number, "ETag": tag} for number, tag in sorted(tags.items())]
        with self._told(name):
            self._client.complete_multipart_upload(**self._upload(name, upload), MultipartUpload={"Parts": parts})

    def abort(self, name: str, upload: str) -> None:
        """Delete the parts. Harmless if they no longer exist."""
        try:
            with self._told(name):
                self._client.abort_multipart_upload(**self._upload(name, upload))
        except ImportRefused as error:
            if _code_of(error.__cause__) != "NoSuchUpload":
                raise

    def _upload(self, name: str, upload: str) -> dict[str, str]:
        return {"Bucket": self._bucket, "Key": self._prefix + name, "UploadId": upload}


def _code_of(error: BaseException | None) -> str:
    """The store's error code in an exception of its client; empty if it has none."""
    return str(error.response.get("Error", {}).get("Code", "")) if isinstance(error, ClientError) else ""


def _host() -> str:
    return urlsplit(settings.BUCKET_ENDPOINT).netloc if settings.BUCKET_ENDPOINT else "Amazon S3"


def _client(credentials: dict[str, str] | None) -> Any:
    own = settings.BUCKET_ENDPOINT
    keys = {} if credentials is None else {f"aws_{name}": value for name, value in credentials.items()}
    config = Config(
        connect_timeout=10,
        read_timeout=30,
        retries={"mode": "standard", "total_max_attempts": 4},
        s3={"addressing_style": "path" if own else "auto"},
        **({} if keys else {"signature_version": UNSIGNED}),
    )
    # A separate session, because Amazon's clients must be created in a single thread.
    session = boto3.session.Session()
    return session.client("s3", endpoint_url=own or None, region_name=settings.BUCKET_REGION, config=config, **keys)
