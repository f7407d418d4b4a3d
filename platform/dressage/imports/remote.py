"""Interface to a place that imports read from: a listing of files, and their content."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from dressage.jobs.local import Unfinished

Algorithm = Literal["sha256", "git", "md5"]
Tick = Callable[[], None]
"""Called whenever data has arrived. It may raise an exception to stop the transfer."""


class ImportRefused(ValueError):
    """The import cannot succeed as requested. The message states the reason and what to do, and contains no secrets."""


class NetworkTrouble(Unfinished):
    """The network or the other side failed, possibly temporarily. The message is a sentence."""


@dataclass(frozen=True, slots=True)
class Checksum:
    """A checksum of a file's content, as stated by the other side."""

    algorithm: Algorithm
    """``git`` is SHA-1 over git's header and the content."""
    digest: str


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """One file of a listing."""

    name: str
    """Its path, with slashes if it is in a subfolder."""
    size: int
    checksum: Checksum | None
    """None if the other side states none. Then only sizes are compared, and what the files say about themselves."""
    tag: str = ""
    """Version of the object. It must not change between two requests."""


@dataclass(frozen=True, slots=True)
class Listing:
    """The files at a place."""

    files: dict[str, RemoteFile]
    """Files by name. For policies, files in subfolders are left out and never fetched."""
    commit: str
    """The commit of the files; empty for a bucket."""
    licence: str
    """Licence stated by the place itself, such as ``apache-2.0``; empty if it states none."""
    card: dict[str, Any] = field(default_factory=dict)
    """Content of the YAML header of the repository's card."""


class Source(Protocol):
    """A place with the files of one policy, or of one dataset."""

    def listing(self) -> Listing:
        """The files. Raises ImportRefused or NetworkTrouble."""
        ...

    def described(self, file: RemoteFile) -> RemoteFile:
        """The file with its checksum, if the other side has one. Raises ImportRefused or NetworkTrouble."""
        ...

    def fetch(self, file: RemoteFile, target: Path, tick: Tick) -> None:
        """Append to ``target`` the missing bytes of the file.

        Raises:
            ImportRefused: access was lost, or the file is gone or has changed.
            NetworkTrouble: the connection broke or was refused repeatedly. The received bytes stay in ``target``.
        """
        ...
