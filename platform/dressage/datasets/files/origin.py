"""Origin of a version: the original file, the detected shape, and what deserves a second look."""

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from dressage.datasets.files.findings import OriginWarning


class FileOrigin(TypedDict):
    """The original file."""

    name: str
    format: Literal["jsonl", "json", "csv", "tsv", "parquet", "kattis", "harbor"]
    packed: bool
    packing: NotRequired[Literal["gzip", "zstd"] | None]
    """Packing of the file. Absent in versions from earlier releases; if those were packed, it was with gzip."""
    bytes: int
    sha256: str
    """Hash of the original file."""


class MappedColumn(TypedDict):
    """Origin of a column of the rows."""

    column: str
    source: str
    """Phrase that names the source columns and what was done with them."""


class ShapeOrigin(TypedDict):
    """The detected shape, and what fits it."""

    name: str
    """Short name; ``own`` for rows that were stored unchanged."""
    title: str
    mapping: list[MappedColumn]
    """Columns that were converted. All others are unchanged."""
    grader: dict[str, Any] | None
    """A grader that can grade these rows directly."""
    system: str | None
    """System prompt that asks for the answer format that the grader reads."""
    document: NotRequired[dict[str, Any]]
    """The mapping that a person provided, if the file was read by one."""


class ImportedFile(TypedDict):
    """One of the fetched files, in reading order."""

    path: str
    bytes: int
    sha256: str


class ImportOrigin(TypedDict):
    """The place that the file was imported from."""

    source: Literal["hub", "url", "folder"]
    location: str
    """Name of the repository, URL, or folder."""
    revision: str
    """Requested revision; empty for the main branch."""
    commit: str | None
    """Commit of the repository; null if the place has no commits."""
    config: str
    split: str
    files: list[ImportedFile]


class Origin(TypedDict):
    """What a version was created from."""

    file: FileOrigin
    """The uploaded file. Several imported files count as one, concatenated."""
    shape: ShapeOrigin
    warnings: list[OriginWarning]
    imported: NotRequired[ImportOrigin]
    """The place that it was imported from; absent for uploads."""
