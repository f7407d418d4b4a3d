"""vLLM's worker for one device. It loads weights as the adapter does and accepts weight updates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open
from vllm.config import VllmConfig
from vllm.platforms import current_platform

from worker.engine import loader  # noqa: F401 - vLLM finds it by its name
from worker.engine.devices.driver import SETTINGS
from worker.engine.devices.messages import Contract
from worker.engine.process import prepare_process
from worker.engine.readback import ReadBack
from worker.engine.weights import WeightStore

if current_platform.is_cpu():
    from vllm.v1.worker.cpu_worker import CPUWorker as DeviceWorker
else:
    from vllm.v1.worker.gpu_worker import Worker as DeviceWorker


class EngineWorker(DeviceWorker):
    """A worker as vLLM creates it, in its own process. Names with a leading underscore belong to vLLM or this class."""

    def __init__(self, vllm_config: VllmConfig, *args: Any, **options: Any) -> None:
        """Prepare the process, then do what vLLM does."""
        settings = vllm_config.additional_config[SETTINGS]
        prepare_process(settings["architectures"], always_plain=False, threads=settings["threads"])
        super().__init__(vllm_config, *args, **options)
        self._float32_head = bool(settings["float32_head"])

    def load_model(self, **options: Any) -> None:
        """Load the model and keep what later updates need."""
        super().load_model(**options)
        from vllm.distributed import get_pp_group

        runner = self.model_runner
        self._store = WeightStore(
            runner.get_model(),
            self.vllm_config.model_config,
            runner.device,
            float32_head=self._float32_head and get_pp_group().is_last_rank,
        )

    def weight_contract(self) -> Contract:
        """Names and shapes that an update must provide, and the tensors that can be read back here."""
        store = self._store
        return Contract(store.required, store.optional, store.tied, store.reader.read_sizes, store.reader.total)

    def begin_weights(self, head: str) -> None:
        """Prepare for an update whose output layer is named ``head``."""
        self._store.begin(head)

    def take_weights(self, path: str) -> None:
        """Copy this device's part of the tensors in a safetensors file, reading only what is needed."""
        with safe_open(path, "pt") as tensors:
            self._store.take({name: tensors.get_tensor(name) for name in tensors.keys()})  # noqa: SIM118 - no mapping

    def end_weights(self) -> None:
        """Serve the weights that were taken."""
        self._store.end()

    def read_back(self, columns: Mapping[int, NDArray[np.int64]]) -> list[ReadBack]:
        """Values of the tensors that this process holds whole; see ``WeightReader.read``."""
        return [replace(one, place=f"{one.place} of rank {self.rank}") for one in self._store.reader.read(columns)]
