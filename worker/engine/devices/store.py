"""Weights of a model that several processes hold parts of: checked here, handed over in buckets, loaded there."""

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
"""Bytes of tensors that stand beside the weights while an update is loaded; one tensor may be larger."""
SHARED_MEMORY = Path("/dev/shm")  # nosec B108


class DistributedWeightStore(WeightContract):
    """Stands for the ``WeightStore`` of each process. Every method asks all of them."""

    def __init__(self, executor: Executor) -> None:
        """Take over a model whose workers are ``EngineWorker``."""
        self._executor = executor
        contracts = executor.collective_rpc("weight_contract")
        first = contracts[0]
        super().__init__(first.required, first.optional, first.tied)
        self.reader = DistributedReader(executor, [one.read_sizes for one in contracts], first.total)
        """Reads back what the kernels of all processes hold whole."""

    def load(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Have every process copy its part of checked tensors, and pack its layers again."""
        # A head that is the embedding is not sent twice.
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
        """Reason why changes are not applied in place: no process has whole tensors to apply them to."""
        return "the weights of an engine of several devices are loaded as a whole"

    def change(self, chain: Sequence[Mapping[str, torch.Tensor]], digests: Mapping[str, bytes]) -> None:
        """Never asked for, since ``refusal`` has a reason."""
        raise NotImplementedError(self.refusal(chain))


class DistributedReader:
    """Stands for the ``WeightReader`` of each process."""

    def __init__(self, executor: Executor, read_sizes: Sequence[Mapping[str, int]], total: int) -> None:
        """``read_sizes``: of each process, the values in the tensors that it can read back; ``total``: in all."""
        self._executor = executor
        known = {name: size for sizes in read_sizes for name, size in sizes.items()}
        self.share = sum(known.values()) / total if total else 0.0
        """Share of the checkpoint's values that lie in tensors that can be read back."""

    def read(self, columns: Mapping[int, NDArray[np.int64]]) -> list[ReadBack]:
        """Ask the kernels of all processes; a tensor that several hold is answered by each of them."""
        answers = self._executor.collective_rpc("read_back", args=(dict(columns),))
        return [one for answer in answers for one in answer]


def buckets(tensors: Iterator[tuple[str, torch.Tensor]], size: int = BUCKET) -> Iterator[dict[str, torch.Tensor]]:
    """Tensors in their order, in parts of at most ``size`` bytes, or of one tensor."""
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
    """Shared memory, which no disk slows down; the usual folder for temporary files where there is too little."""
    try:
        room = os.statvfs(SHARED_MEMORY)
    except OSError:
        return None
    enough = room.f_bavail * room.f_frsize > 4 * BUCKET and os.access(SHARED_MEMORY, os.W_OK)
    return str(SHARED_MEMORY) if enough else None
