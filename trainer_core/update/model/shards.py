"""Loading of a policy straight into the shards of ZeRO stage 3: no rank ever holds the whole model.

    files ── transformers reads one weight ──► whole, for a moment ──► this rank's part of it ──► the next weight

A module's own weights are gathered while it is called, by hooks until DeepSpeed's engine installs its own. Models that
are only scored keep the hooks.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle
from transformers import core_model_loading

SEQUENTIAL = "HF_DEACTIVATE_ASYNC_LOAD"
"""Environment variable that keeps transformers from reading weights ahead."""
ACCELERATOR = "DS_ACCELERATOR"
"""Environment variable that sets DeepSpeed's kind of device."""


class WeightPlacement(Protocol):
    """Placement of a model's weights while it is loaded."""

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Surrounds the reading of files."""
        yield

    @contextmanager
    def adapting(self, model: nn.Module, also: Sequence[nn.Parameter] = ()) -> Iterator[None]:
        """Surrounds code that calls a loaded model, or reads its vectors and the matrices ``also``."""
        yield

    def cast(self, model: nn.Module, dtype: torch.dtype) -> None:
        """Convert all weights to ``dtype``."""

    def keep_callable(self, model: nn.Module) -> None:
        """Make ``model`` callable from now on without an engine around it."""


class WholeWeights:
    """Every rank holds every weight."""

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Implements ``WeightPlacement.reading``."""
        yield

    @contextmanager
    def adapting(self, model: nn.Module, also: Sequence[nn.Parameter] = ()) -> Iterator[None]:
        """Implements ``WeightPlacement.adapting``."""
        yield

    def cast(self, model: nn.Module, dtype: torch.dtype) -> None:
        """Implements ``WeightPlacement.cast``."""
        for parameter in model.parameters():
            parameter.data = parameter.data.to(dtype)

    def keep_callable(self, model: nn.Module) -> None:
        """Implements ``WeightPlacement.keep_callable``: nothing to do."""


class ShardedWeights:
    """Every rank holds its part of every weight, as ZeRO stage 3 splits them. Loading is collective over the ranks."""

    def __init__(self, device: torch.device) -> None:
        """Shards on ``device``. The default process group must exist."""
        deepspeed = import_deepspeed(device)
        deepspeed.init_distributed(auto_mpi_discovery=False, verbose=False)
        self._device = device
        self._gathered = deepspeed.zero.GatheredParameters
        self._zero = deepspeed.zero.Init(dtype=torch.float32)
        # As DeepSpeed's engine does with models that it shards itself.
        self._zero._enable_mem_efficient_linear()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Implements ``WeightPlacement.reading``: each weight is sharded once transformers has put it in place."""
        place, before = core_model_loading.set_param_for_module, os.environ.get(SEQUENTIAL)

        def place_and_cut(model: nn.Module, target_name: str, *args: Any, **kwargs: Any) -> None:
            place(model, target_name, *args, **kwargs)
            path, _, name = target_name.rpartition(".")
            found = getattr(model.get_submodule(path), name)
            if isinstance(found, nn.Parameter) and found.device.type != "meta":
                self._cut(found)

        core_model_loading.set_param_for_module = place_and_cut
        os.environ[SEQUENTIAL] = "1"
        try:
            yield
        finally:
            core_model_loading.set_param_for_module = place
            if before is None:
                del os.environ[SEQUENTIAL]
            else:
                os.environ[SEQUENTIAL] = before

    @contextmanager
    def adapting(self, model: nn.Module, also: Sequence[nn.Parameter] = ()) -> Iterator[None]:
        """Implements ``WeightPlacement.adapting``: vectors are whole while open, matrices while their module runs."""
        for parameter in model.parameters():
            if not hasattr(parameter, "ds_shape"):
                self._cut(parameter)  # a weight that the files lack, such as a constant
        vectors = [one for one in model.parameters() if len(whole_shape(one)) < 2]
        whole = [*vectors, *also]
        handles = self._gather_when_called(model, least=2)
        try:
            with self._gathered(whole):
                yield
        finally:
            for handle in handles:
                handle.remove()

    def cast(self, model: nn.Module, dtype: torch.dtype) -> None:
        """Implements ``WeightPlacement.cast``."""
        parameter: Any
        for parameter in model.parameters():
            parameter.ds_tensor.data = parameter.ds_tensor.data.to(dtype)
            parameter.data = parameter.data.to(dtype)

    def keep_callable(self, model: nn.Module) -> None:
        """Implements ``WeightPlacement.keep_callable``."""
        self._gather_when_called(model, least=0)

    def _cut(self, parameter: Any) -> None:
        parameter.data = parameter.data.to(self._device)
        self._zero._convert_to_deepspeed_param(parameter)
        parameter.partition()

    def _gather_when_called(self, model: nn.Module, *, least: int) -> list[RemovableHandle]:
        """Make each module gather its own weights of at least ``least`` dimensions while it runs."""
        handles = []
        for module in model.modules():
            own = [one for one in module.parameters(recurse=False) if len(whole_shape(one)) >= least]
            if not own:
                continue
            opened: list[Any] = []

            def gather(_: nn.Module, __: Any, own: list[Any] = own, opened: list[Any] = opened) -> None:
                # Weights that are already whole stay so afterwards.
                opened.append(self._gathered([one for one in own if not one.numel()]))
                opened[-1].__enter__()

            def release(_: nn.Module, __: Any, ___: Any, opened: list[Any] = opened) -> None:
                opened.pop().__exit__(None, None, None)

            handles.append(module.register_forward_pre_hook(gather))
            handles.append(module.register_forward_hook(release, always_call=True))
        return handles


def whole_shape(parameter: Tensor) -> tuple[int, ...]:
    """Full shape of a weight, even if this rank holds only a part of it."""
    return tuple(getattr(parameter, "ds_shape", parameter.shape))


def import_deepspeed(device: torch.device) -> Any:
    """DeepSpeed, set to the given device; by default it uses a GPU if it sees one.

    If it is imported here, an environment variable sets the device and is restored afterwards, because a process that
    this one starts may compute elsewhere. If it was imported before, its own call sets the device.
    """
    with _told(device):
        import deepspeed
    from deepspeed.accelerator import get_accelerator, set_accelerator
    from deepspeed.accelerator.cpu_accelerator import CPU_Accelerator

    if device.type == "cpu" and ACCELERATOR not in os.environ and not isinstance(get_accelerator(), CPU_Accelerator):
        set_accelerator(CPU_Accelerator())
    # No compiled operators: given a compiler, DeepSpeed would spend a minute on a shared-memory collective.
    deepspeed.ops.__compatible_ops__ = {}
    return deepspeed


@contextmanager
def _told(device: torch.device) -> Iterator[None]:
    if device.type != "cpu" or ACCELERATOR in os.environ:
        yield
        return
    os.environ[ACCELERATOR] = "cpu"
    try:
        yield
    finally:
        del os.environ[ACCELERATOR]
