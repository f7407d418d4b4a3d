"""Weights of a model that is split over several processes: checked here, passed on in buckets, loaded there."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import torch
from safetensors.torch import save_file

from worker.engine.loader import head_name
from worker.engine.readback import ReadBack
from worker.engine.weights import WeightContract

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from vllm.v1.executor import Executor

BUCKET = 256 << 20
"""Bytes of tensors held in addition to the weights while an update is loaded. A single tensor may be larger."""
SHARED_MEMORY = Path("/dev/shm")  # nosec B108


class DistributedWeightStore(WeightContract):
    """Proxy for the ``WeightStore`` of each process. Every method calls all of them."""

    def __init__(self, executor: Executor) -> None:
        """Take over a model whose workers are ``EngineWorker``."""
        self._executor = executor
        contracts = executor.collective_rpc("weight_contract")
        first = contracts[0]
        super().__init__(first.required, first.optional, first.tied)
        self.reader = DistributedReader(executor, [one.read_sizes for one in contracts], first.total)
        """Reads back the tensors that the kernels of a process hold whole."""

    def load(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Make every process copy its part of the checked tensors and repack its layers."""
        # A head tied to the embedding is not sent twice.
        asked = [name for name in tensors if name in self.required or name in self.optional]
        self._executor.collective_rpc("begin_weights", args=(head_name(asked),))
        with TemporaryDirectory(prefix="dressage-weights-", dir=_folder()) as folder:
            for number, bucket in enumerate(buckets((name, tensors[name]) for name in asked)):
                path = Path(folder) / f"{number}.safetensors"
                save_file(bucket, path)
                self._executor.collective_rpc("take_weights", args=(str(path),))
                path.unlink()
        self._executor.collective_rpc("end_weights")

    def refusal(self, chain: Sequence[Mapping[str, torch.Tensor]]) -> str | None:
        """Reason why changes cannot be applied in place: no process has whole tensors to apply them to."""
        return "the weights of an engine of several devices are loaded as a whole"

    def change(self, chain: Sequence[Mapping[str, torch.Tensor]], digests: Mapping[str, bytes]) -> None:
        """Never called, since ``refusal`` always returns a reason."""
        raise NotImplementedError(self.refusal(chain))


class DistributedReader:
    """Proxy for the ``WeightReader`` of each process."""

    def __init__(self, executor: Executor, read_sizes: Sequence[Mapping[str, int]], total: int) -> None:
        """``read_sizes``: per process, the size of each tensor it can read back; ``total``: values overall."""
        self._executor = executor
        known = {name: size for sizes in read_sizes for name, size in sizes.items()}
        self.share = sum(known.values()) / total if total else 0.0
        """Share of the checkpoint's values in tensors that can be read back."""

    def read(self, columns: Mapping[int, NDArray[np.int64]]) -> list[ReadBack]:
        """Query the kernels of all processes. A tensor that several processes hold is returned by each of them."""
        answers = self._executor.collective_rpc("read_back", args=(dict(columns),))
        return [one for answer in answers for one in answer]


def buckets(tensors: Iterator[tuple[str, torch.Tensor]], size: int = BUCKET) -> Iterator[dict[str, torch.Tensor]]:
    """Split the tensors, in order, into buckets of at most ``size`` bytes, or of a single larger tensor."""
    bucket: dict[str, torch.Tensor] = {}
    held = 0
    for name, tensor in tensors:
        if bucket and held + tensor.nbytes > size:
            yield bucket
            bucket, held = {}, 0
        bucket[name] = tensor.contiguous()
        held += tensor.nbytes
    if bucket:
        yield bucket


def _folder() -> str | None:
    """Shared memory, which needs no disk; None, the default folder for temporary files, if it is too small."""
    try:
        room = os.statvfs(SHARED_MEMORY)
    except OSError:
        return None
    enough = room.f_bavail * room.f_frsize > 4 * BUCKET and os.access(SHARED_MEMORY, os.W_OK)
    return str(SHARED_MEMORY) if enough else None
