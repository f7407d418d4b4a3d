"""Processes between which weights travel on cards: each sees one card, as Ray has it."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from multiprocessing import get_context
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from tests.worker.learner.device_memory import SharedHostMemory
from tests.worker.learner.test_transports import ToyPolicy
from tests.worker.learner.travelling import Fingerprint, fingerprint, layers
from worker.learner.probe.check import apply_and_probe
from worker.learner.publication import Publication
from worker.learner.transport import TRANSPORTS, WeightTransport
from worker.learner.transport.cuda_ipc import CudaIpc
from worker.learner.transport.distributed import Distributed
from worker.learner.weights import bundle

SEQUENCES = [[0, 3, 5], [7, 1]]
BUCKET = 1 << 12
"""Bytes of a bucket, so that the tensors of the tests take several."""


@contextmanager
def process(device: str, card: int = 0) -> Iterator[ProcessPoolExecutor]:
    """A process that sees that card alone, or none."""
    shown = str(card) if device == "cuda" else ""
    with ProcessPoolExecutor(1, get_context("spawn"), initializer=_begin, initargs=(device, shown)) as made:
        yield made


def _begin(device: str, shown: str) -> None:
    os.environ["CUDA_VISIBLE_DEVICES"] = shown
    from worker.learner.transport import groups

    groups.BUCKET = BUCKET
    if device == "cpu":
        TRANSPORTS["cuda_ipc"] = CudaIpc(SharedHostMemory)
        groups.STAGED_ON = "cpu"
        # A torch without CUDA has no such class: mypy knows of none either.
        dist.ProcessGroupNCCL = StandIn  # type: ignore[misc, assignment]


class StandIn:
    """A group that is made and ended as NCCL's is, and sends by gloo what stands on the stage."""

    class Options:
        """What can be chosen."""

        _timeout: timedelta

    def __init__(self, store: dist.Store, rank: int, size: int, options: Options) -> None:
        self._group: Any = dist.ProcessGroupGloo(store, rank, size, options._timeout)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._group, name)

    def abort(self) -> None:
        """End it, as NCCL's group does."""
        del self._group


class _Sender:
    """The sender of a process, and what it has packed."""

    transport: WeightTransport
    packed: dict[int, Any]


class OnDevice(ToyPolicy):
    """A policy whose weights are where its card is, if it has one."""

    def layers(self, *, on_device: bool = False) -> Iterator[dict[str, Tensor]]:
        """Layers on the device, where they are asked for there."""
        for layer in super().layers():
            yield {name: one.cuda() if on_device and torch.cuda.is_available() else one for name, one in layer.items()}

    def load_weights(self, version: int, tensors: Mapping[str, Tensor], *, kv: str) -> None:
        """Take the weights to the host's memory."""
        super().load_weights(version, {name: one.cpu() for name, one in tensors.items()}, kv=kv)


def send_by(transport: str, engines: int = 1) -> None:
    """Make this process the learner's."""
    made = Distributed("127.0.0.1", engines, "nccl") if transport == "distributed" else TRANSPORTS[transport]
    _Sender.transport, _Sender.packed = made, {}


def packed(version: int) -> bytes:
    """What the bundle of a version of ``layers`` holds."""
    _Sender.packed[version] = _Sender.transport.pack(version, layers(version))
    return pickle.dumps(_Sender.packed[version])


def published(version: int) -> bytes:
    """The bundle of a toy policy's weights."""
    learner: Any = OnDevice(version)  # mypy takes its ``None`` for a type of its own
    return pickle.dumps(bundle(learner, SEQUENCES, Publication(_Sender.transport)))


def keep(*versions: int) -> None:
    """Give all other versions back."""
    _Sender.transport.keep([_Sender.packed[version] for version in versions])


def stop_sending() -> None:
    """Give all of them back."""
    _Sender.transport.close()


def received(transport: str, sent: bytes) -> Fingerprint:
    """What an engine's process finds."""
    return fingerprint(TRANSPORTS[transport].unpack(pickle.loads(sent)))


def where(transport: str, sent: bytes) -> set[str]:
    """Kinds of device that what an engine's process finds is on."""
    return {tensor.device.type for tensor in TRANSPORTS[transport].unpack(pickle.loads(sent)).values()}


def served(sent: bytes) -> float:
    """The largest difference, in nats, that the probe finds in an engine's process."""
    return apply_and_probe(OnDevice(9), pickle.loads(sent), 1e-9).largest
