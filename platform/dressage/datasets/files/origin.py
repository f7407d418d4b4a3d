"""Origin of a version: the file as it was given, the shape that was found in it, and what deserves a second look."""

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from dressage.datasets.files.findings import OriginWarning


class FileOrigin(TypedDict):
    """The file as it was given."""

    name: str
    format: Literal["jsonl", "json", "csv", "tsv", "parquet", "kattis", "harbor"]
    packed: bool
    packing: NotRequired[Literal["gzip", "zstd"] | None]
    """How it was packed. Where versions of before it was kept were packed, it was with gzip."""
    bytes: int
    sha256: str
    """Hash of the file as it was given."""


class MappedColumn(TypedDict):
    """Origin of a column of the rows."""

    column: str
    source: str
    """Phrase that names the columns of the file and what was done to them."""


class ShapeOrigin(TypedDict):
    """The shape that was found, and what fits it."""

    name: str
    """Short name; ``own`` for rows that were stored as they came."""
    title: str
    mapping: list[MappedColumn]
    """Columns that were made; all others are as they came."""
    grader: dict[str, Any] | None
    """A grader that can grade these rows at once."""
    system: str | None
    """System prompt that asks for the form of answer which the grader reads."""
    document: NotRequired[dict[str, Any]]
    """The mapping that a person gave, where the file was read by one."""


class ImportedFile(TypedDict):
    """One of the files that were fetched, in the order in which they were read."""

    path: str
    bytes: int
    sha256: str


class ImportOrigin(TypedDict):
    """Where the file was imported from."""

    source: Literal["hub", "url", "folder"]
    location: str
    """Name of the repository, address, or folder."""
    revision: str
    """Revision that was asked for; empty for the main branch."""
    commit: str | None
    """The commit of the repository; null where there are none."""
    config: str
    split: str
    files: list[ImportedFile]


class Origin(TypedDict):
    """What a version was made from."""

    file: FileOrigin
    """File of the upload; several that were imported as one count as one behind the other."""
    shape: ShapeOrigin
    warnings: list[OriginWarning]
    imported: NotRequired[ImportOrigin]
    """Where it was imported from; uploads have none."""
