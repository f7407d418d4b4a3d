"""Choice of an operation's implementation: the torch reference, or Triton if the machine can run it."""

import importlib.util
import os
from functools import cache
from typing import Literal

import torch
from torch import Tensor

Backend = Literal["auto", "reference", "triton"]
"""``auto`` uses Triton for tensors on a GPU that it supports, and the reference for all others."""

MIN_CAPABILITY = (8, 0)
"""Oldest CUDA compute capability on which the Triton paths run: they rely on matrix products in bfloat16."""


class BackendUnavailable(RuntimeError):
    """The Triton path was requested but cannot run here; the message says why."""


def uses_triton(tensor: Tensor, backend: Backend) -> bool:
    """Whether the operation on ``tensor`` runs in Triton.

    Raises:
        BackendUnavailable: ``backend`` is ``triton`` and Triton cannot run here.
    """
    if backend == "reference":
        return False
    reason = refusal(tensor)
    if backend == "triton" and reason is not None:
        raise BackendUnavailable(reason)
    # The interpreter is for tests and is used only on request.
    return reason is None and (backend == "triton" or tensor.is_cuda)


def refusal(tensor: Tensor) -> str | None:
    """Reason why Triton cannot run on ``tensor``, in one sentence; None if it can."""
    if not _installed():
        return "Triton is not installed"
    if tensor.dtype == torch.float64:
        return "the Triton paths sum in float32, and the tensors are in float64"
    if interpreting():
        return None
    if not tensor.is_cuda:
        return f"Triton compiles for GPUs, and the tensors are on {tensor.device.type} (TRITON_INTERPRET=1 emulates)"
    found = torch.cuda.get_device_capability(tensor.device)
    if found < MIN_CAPABILITY:
        return f"the GPU has compute capability {found[0]}.{found[1]}, below {MIN_CAPABILITY[0]}.{MIN_CAPABILITY[1]}"
    return None


def interpreting() -> bool:
    """Whether Triton's interpreter was requested. It runs kernels on a CPU, one block after another."""
    return os.environ.get("TRITON_INTERPRET") == "1"


@cache
def _installed() -> bool:
    return importlib.util.find_spec("triton") is not None
