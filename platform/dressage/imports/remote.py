"""A place that is imported from, as the worker sees it: a listing of files, and the bytes of each."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from dressage.jobs.local import Unfinished

Algorithm = Literal["sha256", "git", "md5"]
Tick = Callable[[], None]
"""Called whenever something has come in. It may raise to end a transfer."""


class ImportRefused(ValueError):
    """The import cannot succeed as it is asked for. The message says why and what to do, and holds no secret."""


class NetworkTrouble(Unfinished):
    """The network, or the other side, failed in a way that may pass. The message is a sentence."""


@dataclass(frozen=True, slots=True)
class Checksum:
    """What the other side says of a file's content."""

    algorithm: Algorithm
    """``git`` is SHA-1 over git's header and the content."""
    digest: str


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """One file of a listing."""

    name: str
    """Its path, with slashes where it lies in a folder below."""
    size: int
    checksum: Checksum | None
    """None where the other side tells none: then sizes are compared alone, and what the files say of themselves."""
    tag: str = ""
    """Version of the object, which must not change between two requests."""


@dataclass(frozen=True, slots=True)
class Listing:
    """The files that there are elsewhere."""

    files: dict[str, RemoteFile]
    """Files by name. Of a policy, those in folders below are left out, and never fetched."""
    commit: str
    """The commit that they are of; empty in a bucket."""
    licence: str
    """Name that the place itself gives, such as ``apache-2.0``; empty where it gives none."""
    card: dict[str, Any] = field(default_factory=dict)
    """What the repository's card says in its YAML head."""


class Source(Protocol):
    """A place with the files of one policy, or of one dataset."""

    def listing(self) -> Listing:
        """The files. Raises ImportRefused or NetworkTrouble."""
        ...

    def described(self, file: RemoteFile) -> RemoteFile:
        """The file with its checksum, where the other side keeps one. Raises ImportRefused or NetworkTrouble."""
        ...

    def fetch(self, file: RemoteFile, target: Path, tick: Tick) -> None:
        """Append to ``target`` what it lacks of the file.

        Raises:
            ImportRefused: access was lost, or the file is gone or another one.
            NetworkTrouble: the connection broke, or was refused, again and again; what has come stays in ``target``.
        """
        ...
