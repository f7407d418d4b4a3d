"""Process groups of a learner and engines, separate from those of DeepSpeed and vLLM. None is the default group."""

from __future__ import annotations

import socket
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal

import torch
import torch.distributed as dist

if TYPE_CHECKING:
    from torch import Tensor

Backend = Literal["gloo", "nccl"]
PATIENCE = timedelta(seconds=30)
"""Time for a peer to join a group, and for one bucket to arrive."""
BUCKET = 32 << 20
"""Bytes sent at a time. On CUDA this much device memory is used in the meantime."""
STAGED_ON = "cuda"
"""Device on which NCCL expects them."""


def listening_store(address: str) -> dist.TCPStore:
    """A store that listens only on ``address``."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listener = socket.socket(family)
    listener.bind((address, 0))
    listener.listen(1024)
    port = listener.getsockname()[1]
    return dist.TCPStore(
        address, port, None, True, PATIENCE, wait_for_workers=False, master_listen_fd=listener.detach()
    )


def connected_store(address: str, port: int) -> dist.TCPStore:
    """A connection to the store of another process."""
    return dist.TCPStore(address, port, None, False, PATIENCE, wait_for_workers=False)


def address_towards(address: str, port: int) -> str:
    """This host's address on the route to that one: the interface that a group must use."""
    with socket.create_connection((address, port), timeout=PATIENCE.total_seconds()) as connection:
        found: str = connection.getsockname()[0]
    return found


class SenderGroup:
    """A sender, rank 0, and its receivers."""

    def __init__(self, store: dist.Store, name: str, rank: int, size: int, address: str, backend: Backend) -> None:
        """Join; returns when all members have joined.

        Args:
            store: where the members meet.
            name: unique among the groups of the store.
            rank: the rank of this process; 0 sends.
            size: number of members.
            address: this host's address, on which the others reach it.
            backend: "gloo" moves host memory, "nccl" memory of the current CUDA device.
        """
        self._rank, self._size, self._backend = rank, size, backend
        shared = dist.PrefixStore(name, store)
        # Any: torch's stubs know neither gloo's options nor that a backend has a group's methods.
        self._group: Any
        if backend == "gloo":
            gloo: Any = dist.ProcessGroupGloo
            options = gloo._Options()
            options._devices = [gloo.create_device(hostname=address)]
            options._timeout = PATIENCE
            self._group = gloo(shared, rank, size, options)
        else:
            chosen = dist.ProcessGroupNCCL.Options()
            chosen._timeout = PATIENCE
            self._group = dist.ProcessGroupNCCL(shared, rank, size, chosen)

    def pass_on(self, whole: Tensor) -> None:
        """Rank 0 sends ``whole``, [bytes] uint8 in host memory; the others fill theirs. Bucket by bucket.

        Raises:
            RuntimeError: a member is gone or too slow. The group cannot be used again.
        """
        staged = None
        if self._backend == "nccl":
            staged = torch.empty(min(BUCKET, whole.numel()), dtype=torch.uint8, device=STAGED_ON)
        for start in range(0, whole.numel(), BUCKET):
            part = whole[start : start + BUCKET]
            moved = part if staged is None else staged[: part.numel()]
            if staged is not None and self._rank == 0:
                moved.copy_(part)
            self._move(moved)
            if staged is not None and self._rank != 0:
                part.copy_(moved)

    def leave(self) -> None:
        """Close all connections, so that members that still wait learn immediately that nothing will come.

        gloo closes them when the group is deleted, even if an exception, for example, still holds this object.
        """
        if self._backend == "nccl":
            self._group.abort()
        del self._group

    def _move(self, part: Tensor) -> None:
        if self._size > 2:
            options = dist.BroadcastOptions()
            options.rootRank = 0
            self._group.broadcast([part], options).wait()
        elif self._rank == 0:
            self._group.send([part], 1, 0).wait()
        else:
            self._group.recv([part], 0, 0).wait()
