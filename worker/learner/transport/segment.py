"""Memory segments without a name in any file system, sealed by the kernel once they are written.

A segment is a memfd. Processes of the same user on the same kernel open it through its writer's entry in ``/proc``; no
other process can. It has no name that could be left behind: when the last process that holds it ends, in whatever way,
the kernel frees it. Once sealed, no process can truncate or write it, not even its writer, so a reader needs neither a
digest nor a lock. The size of ``/dev/shm``, which containers keep small, does not limit it.
"""

from __future__ import annotations

import fcntl
import mmap
import os
import secrets
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worker.learner.transport.layout import LaidOut, LaidTensor, place, raw

if TYPE_CHECKING:
    from torch import Tensor

    from worker.learner.transport.base import Tensors

MAGIC = b"dressage weights"
HEADER = 64
"""Bytes before the first tensor: ``MAGIC`` and the segment's key."""
SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
_MOST = 1 << 30
"""Bytes per call: the kernel accepts no more than 2 GiB."""


@dataclass(frozen=True, slots=True)
class SegmentName:
    """Everything that a reader needs to open a segment and to verify that it is the right one."""

    host: str
    """Kernel and process namespace in which ``pid`` and ``descriptor`` are valid."""
    pid: int
    descriptor: int
    key: bytes
    """Random: distinguishes the segment from one of a later process with the same number."""
    size: int
    places: tuple[LaidTensor, ...]


class MemorySegment:
    """A segment on its writer's side."""

    def __init__(self, layers: Iterable[Tensors]) -> None:
        """Copy the tensors into a new segment, layer by layer, and seal it."""
        self._descriptor = os.memfd_create("dressage-weights", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            key, places, end = secrets.token_bytes(16), [], HEADER
            for layer in layers:
                for name, tensor in layer.items():
                    found = place(name, tensor, end)
                    places.append(found)
                    _write(self._descriptor, raw(tensor), found.offset)
                    end = found.offset + found.size
            os.ftruncate(self._descriptor, end)
            # Written last: a reader that finds the key finds everything else.
            os.pwrite(self._descriptor, MAGIC + key, 0)
            fcntl.fcntl(self._descriptor, fcntl.F_ADD_SEALS, SEALS)
        except BaseException:
            os.close(self._descriptor)
            raise
        self.name = SegmentName(this_host(), os.getpid(), self._descriptor, key, end, tuple(places))

    def whole(self) -> Tensor:
        """The segment's bytes, header included: [bytes] uint8."""
        return _mapped(self._descriptor, self.name.size, populate=False)

    def tensors(self) -> Tensors:
        """The tensors, as a reader gets them."""
        return LaidOut(self.name.places, self.whole())

    def close(self) -> None:
        """Free the memory as soon as no reader maps it any longer."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1


def this_host() -> str:
    """Name of this process's kernel and process namespace. Processes with the same name can share segments."""
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{boot}/{os.readlink('/proc/self/ns/pid')}"


def open_segment(name: SegmentName) -> Tensors:
    """The tensors of a segment, mapped: no byte is copied.

    Raises:
        RuntimeError: the segment is gone, unfinished, a different one, or on another host.
    """
    where = f"the shared memory of process {name.pid}"
    if name.host != this_host():
        raise RuntimeError(f"the weights are in {where} on another host, whose memory this process does not share")
    try:
        # Non-blocking: the number may by now belong to a pipe whose other end is never opened.
        opened = os.open(f"/proc/{name.pid}/fd/{name.descriptor}", os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError as error:
        raise RuntimeError(f"the weights are no longer in {where}: it has ended or freed them") from error
    except OSError as error:
        raise RuntimeError(f"{where} cannot be read: {error.strerror}") from error
    try:
        if (fault := _fault(opened, name)) is not None:
            raise RuntimeError(f"{where} does not have the weights: {fault}")
        return LaidOut(name.places, _mapped(opened, name.size, populate=True))
    finally:
        os.close(opened)


def _fault(opened: int, name: SegmentName) -> str | None:
    try:
        seals = fcntl.fcntl(opened, fcntl.F_GET_SEALS)
    except OSError:
        return "its descriptor now belongs to another file"
    found = os.pread(opened, len(MAGIC) + len(name.key), 0)
    if found != MAGIC + name.key:
        return "the segment is a different one, or is unfinished"
    if seals & SEALS != SEALS:
        return "the segment is not sealed, so any process could change it"
    if (size := os.fstat(opened).st_size) != name.size:
        return f"the segment has {size} bytes, not {name.size}"
    return None


def _write(descriptor: int, buffer: Any, offset: int) -> None:
    done = 0
    while done < len(buffer):
        done += os.pwrite(descriptor, buffer[done : done + _MOST], offset + done)


def _mapped(descriptor: int, size: int, *, populate: bool) -> Tensor:
    """``populate``: map all pages immediately, so that later reads cause no page faults."""
    import torch

    flags = mmap.MAP_SHARED | (mmap.MAP_POPULATE if populate else 0)
    mapped = mmap.mmap(descriptor, size, flags=flags, prot=mmap.PROT_READ)
    with warnings.catch_warnings():
        # The memory is read-only, which torch cannot express; it is only read here.
        warnings.simplefilter("ignore", UserWarning)
        return torch.frombuffer(mapped, dtype=torch.uint8)
