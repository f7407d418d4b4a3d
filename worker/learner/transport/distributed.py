"""torch.distributed between hosts: the learner sends a snapshot in buckets to the engines that request it.

Engines send their requests through a store on the learner's side, which returns each its group and its rank. Engines
that ask at the same time get the version in one broadcast. One that is late, or whose group has broken, gets it alone,
point to point. A thread of the learner's process sends while the learner learns and the engines generate. The digest in
the bundle verifies what arrives, since nothing between the hosts is encrypted or signed.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from uuid import uuid4

from worker.learner.transport.base import Tensors, WeightTransport
from worker.learner.transport.layout import LaidOut, LaidTensor, raw
from worker.learner.transport.segment import MemorySegment
from worker.learner.transport.topology import Topology

if TYPE_CHECKING:
    import torch.distributed as dist
    from torch import Tensor

    from worker.learner.transport.groups import Backend, SenderGroup
    from worker.learner.transport.sending import Sending

TRIES = 3
"""Number of times that an engine requests a version before it gives up."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A version that can be requested."""

    address: str
    port: int
    session: str
    """Random prefix of everything that this learner and its readers keep in the store."""
    key: str
    size: int
    places: tuple[LaidTensor, ...]
    digest: bytes
    """BLAKE3 of all bytes."""
    backend: Backend


@dataclass(slots=True)
class GroupMembership:
    """State of a learner's groups that a reader keeps from one version to the next."""

    store: dist.TCPStore
    own: str
    """This host's address on the route to the learner."""
    reader: str = field(default_factory=lambda: uuid4().hex)
    groups: dict[str, SenderGroup] = field(default_factory=dict)


class Distributed(WeightTransport):
    """The bundle says where to request the version."""

    name = "distributed"
    lasts = True

    def __init__(self, address: str = "127.0.0.1", engines: int = 1, backend: Backend = "gloo") -> None:
        """Send from ``address`` to ``engines`` engines; receiving needs none of the arguments."""
        self._address, self._engines, self._backend = address, engines, backend
        self._sending: Sending | None = None
        self._held: dict[str, MemorySegment] = {}
        self._memberships: dict[str, GroupMembership] = {}
        self._lock = threading.Lock()

    def refusal(self, topology: Topology) -> str | None:
        """Requires a private network, since what it sends is not encrypted."""
        if topology.encrypted:
            return (
                "torch.distributed does not encrypt its traffic, but this cluster's Ray does (RAY_USE_TLS), so the"
                " network between its hosts is not private"
            )
        import torch.distributed as dist

        backend = _backend(topology)
        served = dist.is_available() and (dist.is_nccl_available() if backend == "nccl" else dist.is_gloo_available())
        return None if served else f"the installed torch has no {backend}"

    def sender(self, topology: Topology) -> Distributed:
        """An instance that sends from the address by which Ray's nodes know this host."""
        import ray

        address = ray.util.get_node_ip_address() if ray.is_initialized() else "127.0.0.1"
        return Distributed(address, topology.engines, _backend(topology))

    def pack(self, version: int, layers: Iterable[Tensors]) -> Offer:
        """Take a snapshot and offer it."""
        from worker.learner.transport.sending import Sending

        if self._sending is None:
            self._sending = Sending(self._address, self._engines, self._backend)
        segment = MemorySegment(layers)
        key = segment.name.key.hex()
        self._held[key] = segment
        self._sending.offer(key, segment.whole())
        return Offer(
            self._address,
            self._sending.port,
            self._sending.session,
            key,
            segment.name.size,
            segment.name.places,
            _digest(segment.whole()),
            self._backend,
        )

    def unpack(self, packed: Offer) -> Tensors:
        """Request the version and receive it."""
        own = self._held.get(packed.key)
        if own is not None:
            return own.tensors()
        import torch

        whole = torch.empty(packed.size, dtype=torch.uint8)
        with self._lock:
            self._fetch(packed, whole)
        if _digest(whole) != packed.digest:
            raise RuntimeError(f"the weights received from {_where(packed)} differ from those sent")
        return LaidOut(packed.places, whole)

    def keep(self, packed: Collection[Offer]) -> None:
        """Stop offering all other versions. One that is being sent is still sent completely."""
        kept = {one.key for one in packed}
        for key in [key for key in self._held if key not in kept]:
            if self._sending is not None:
                self._sending.withdraw(key)
            self._held.pop(key).close()

    def close(self) -> None:
        """Stop offering anything, and close the store."""
        self.keep(())
        if self._sending is not None:
            self._sending.close()
            self._sending = None

    def _fetch(self, packed: Offer, whole: Tensor) -> None:
        failures: list[str] = []
        for _ in range(TRIES):
            try:
                return self._receive(packed, whole)
            except Gone:
                raise
            except (RuntimeError, OSError) as error:  # RuntimeError comes from torch.distributed
                self._memberships.pop(packed.session, None)
                failures.append((str(error).splitlines() or [type(error).__name__])[0])
        raise RuntimeError(f"the weights could not be fetched from {_where(packed)}: {failures[-1]}")

    def _receive(self, packed: Offer, whole: Tensor) -> None:
        from worker.learner.transport.groups import SenderGroup

        joined = self._membership(packed)
        number = joined.store.add(f"{packed.session}/asks", 1)
        asked = json.dumps({"key": packed.key, "reader": joined.reader, "number": number})
        joined.store.set(f"{packed.session}/ask/{number}", asked)
        answer = json.loads(joined.store.get(f"{packed.session}/answer/{number}"))
        if answer is None:
            raise Gone(f"the weights are no longer at {_where(packed)}: it has freed them")
        name, rank, size = answer
        if name not in joined.groups:
            joined.groups[name] = SenderGroup(joined.store, name, rank, size, joined.own, packed.backend)
        joined.groups[name].pass_on(whole)

    def _membership(self, packed: Offer) -> GroupMembership:
        from worker.learner.transport.groups import address_towards, connected_store

        if packed.session not in self._memberships:
            own = address_towards(packed.address, packed.port)
            # A reader has one learner; the one of an earlier attempt is gone.
            self._memberships = {packed.session: GroupMembership(connected_store(packed.address, packed.port), own)}
        return self._memberships[packed.session]


class Gone(RuntimeError):
    """The sender has released a version."""


def _backend(topology: Topology) -> Backend:
    return "nccl" if topology.own_gpus else "gloo"


def _digest(whole: Tensor) -> bytes:
    from blake3 import blake3

    found: bytes = blake3(raw(whole)).digest()
    return found


def _where(packed: Offer) -> str:
    return f"the learner at {packed.address}:{packed.port}"
