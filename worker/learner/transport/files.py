"""Files in a folder or a bucket, for remote engines: safetensors, with a manifest that lists their digests.

    <location>/run-…/<version>-<key>/00000.safetensors …  manifest.json

A version is written completely before it can be found. The previous version stays until the next is written, since
engines may still fetch it, and so does everything that changes refer to. The rest is removed, and all of it when the
run ends. The digest of the manifest travels with the bundle: someone who can write to the folder cannot make engines
load anything else.
"""

from __future__ import annotations

import json
import mmap
import os
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from worker.learner.transport.base import Tensors, WeightTransport
from worker.learner.transport.segment import MemorySegment
from worker.learner.transport.stores import BucketStore, Store, store
from worker.learner.transport.topology import LOCATION, Topology

if TYPE_CHECKING:
    from torch import Tensor

FORMAT = "dressage weights 1"
MANIFEST = "manifest.json"
_NAME = re.compile(r"[0-9]{5,}\.safetensors")


@dataclass(frozen=True, slots=True)
class Written:
    """A version at a location."""

    location: str
    folder: str
    version: str
    manifest: bytes
    """BLAKE3 of the manifest."""


class Files(WeightTransport):
    """The bundle holds the location of the files and the digest of their manifest."""

    name = "files"
    lasts = True

    def __init__(self, location: str = "", folder: str = "") -> None:
        """Write to ``folder`` at ``location``; reading needs neither."""
        self._location, self._folder = location, folder
        self._store: Store | None = None
        self._written: dict[str, MemorySegment | None] = {}
        """Versions at the location, each with a local copy if the files themselves are in a bucket."""

    def refusal(self, topology: Topology) -> str | None:
        """Requires a writable location named by the operator."""
        if not topology.location:
            return f"the operator has configured no folder or bucket for weights ({LOCATION})"
        return store(topology.location, topology.folder).fault()

    def sender(self, topology: Topology) -> Files:
        """An instance that writes to the run's own folder at the location."""
        return Files(topology.location, topology.folder)

    def pack(self, version: int, layers: Iterable[Tensors]) -> Written:
        """Write a file for each layer, then the manifest."""
        if self._store is None:
            self._store = store(self._location, self._folder)
            self._store.clear()  # left by an earlier attempt
        key, files = f"{version}-{uuid4().hex}", list[dict[str, Any]]()
        passing = self._passing(key, layers, files)
        if isinstance(self._store, BucketStore):
            copy = MemorySegment(passing)
        else:
            copy = None
            for _ in passing:
                pass
        manifest = json.dumps({"format": FORMAT, "version": version, "files": files}).encode()
        self._store.put(key, MANIFEST, manifest)
        self._store.finish(key)
        self._written[key] = copy
        return Written(self._location, self._folder, key, _digest(manifest))

    def unpack(self, packed: Written) -> Tensors:
        """The tensors of all files, each file verified by its digest."""
        if (copy := self._written.get(packed.version)) is not None:
            return copy.tensors()
        own = packed.version in self._written
        held = store(packed.location, packed.folder)
        found: dict[str, Tensor] = {}
        for file in _files(held, packed):
            found |= _read(held, packed, file, proved=own)
        return found

    def keep(self, packed: Collection[Written]) -> None:
        """Remove all other versions."""
        kept = {one.version for one in packed}
        for version in [version for version in self._written if version not in kept]:
            copy = self._written.pop(version)
            if self._store is not None:
                self._store.remove(version)
            if copy is not None:
                copy.close()

    def clean(self, topology: Topology) -> None:
        """Remove the run's folder."""
        store(topology.location, topology.folder).clear()

    def close(self) -> None:
        """Remove all versions."""
        self.keep(())

    def _passing(self, key: str, layers: Iterable[Tensors], files: list[dict[str, Any]]) -> Iterator[Tensors]:
        """The layers, written as they pass by."""
        from safetensors.torch import save

        assert self._store is not None
        for layer in layers:
            if layer:
                content = save(_apart(layer))
                name = f"{len(files):05d}.safetensors"
                self._store.put(key, name, content)
                files.append({"name": name, "bytes": len(content), "blake3": _digest(content).hex()})
            yield layer


def _apart(layer: Tensors) -> dict[str, Tensor]:
    """A layer's tensors without shared memory, which the format does not support."""
    seen: set[int] = set()
    found: dict[str, Tensor] = {}
    for name, tensor in layer.items():
        storage = tensor.untyped_storage().data_ptr()
        plain = tensor.detach().cpu().contiguous()
        found[name] = plain.clone() if storage in seen else plain
        seen.add(storage)
    return found


def _files(held: Store, packed: Written) -> list[dict[str, Any]]:
    """The files of a version, as its manifest names them."""
    opened = held.get(packed.version, MANIFEST)
    with os.fdopen(opened, "rb") as file:
        file.seek(0)
        manifest = file.read()
    if _digest(manifest) != packed.manifest:
        raise RuntimeError(f"the weights {_where(packed)} differ from those sent: their manifest is different")
    files: list[dict[str, Any]] = json.loads(manifest)["files"]
    if not all(_NAME.fullmatch(file["name"]) for file in files):
        raise RuntimeError(f"the manifest of the weights {_where(packed)} lists unknown file names")
    return files


def _read(held: Store, packed: Written, file: dict[str, Any], *, proved: bool) -> dict[str, Tensor]:
    from safetensors import safe_open

    opened = held.get(packed.version, file["name"])
    try:
        size = os.fstat(opened).st_size
        if size != file["bytes"]:
            raise RuntimeError(
                f"the weights {_where(packed)} are incomplete: {file['name']} has {size} bytes, not {file['bytes']}"
            )
        if not proved:
            with mmap.mmap(opened, size, prot=mmap.PROT_READ) as content:
                if _digest(content).hex() != file["blake3"]:
                    raise RuntimeError(f"the weights {_where(packed)} differ from those sent: {file['name']} differs")
        with safe_open(f"/proc/self/fd/{opened}", framework="pt") as tensors:
            return {name: tensors.get_tensor(name) for name in tensors.keys()}  # noqa: SIM118 - it is no mapping
    finally:
        os.close(opened)


def _digest(content: Any) -> bytes:
    from blake3 import blake3

    found: bytes = blake3(content).digest()
    return found


def _where(packed: Written) -> str:
    return f"in {packed.location}/{packed.folder}/{packed.version}"
