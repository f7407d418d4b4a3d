"""Requirements of a spec on a learner's machine. Unmet ones are refused at the start, in one sentence."""

from collections.abc import Iterator
from importlib.util import find_spec

import torch

from trainer_core.spec import RunSpec

BITSANDBYTES = "bitsandbytes==0.50.2"


class MissingCapability(ValueError):
    """The spec requires something that this machine cannot do."""


def require(spec: RunSpec, device: torch.device) -> None:
    """Raise MissingCapability with everything that a learner on ``device`` lacks."""
    if lacking := list(_lacking(spec, device)):
        raise MissingCapability("; ".join(lacking))


def _lacking(spec: RunSpec, device: torch.device) -> Iterator[str]:
    on_host = device.type == "cpu"
    if spec.policy.activation_offload and on_host:
        yield (
            "policy.activation_offload needs an accelerator: this learner runs on a CPU, whose activations are already"
            " in host memory (policy.gradient_checkpointing saves some)"
        )
    if spec.optimizer.offload and on_host:
        yield (
            "optimizer.offload needs an accelerator: this learner runs on a CPU, whose moments are already in host"
            " memory"
        )
    if spec.optimizer.moment_bits == 8 and find_spec("bitsandbytes") is None:
        yield f"optimizer.moment_bits = 8 needs a library: pip install --no-deps {BITSANDBYTES}"
    if spec.policy.dtype == "bfloat16" and device.type == "cuda" and not torch.cuda.is_bf16_supported():
        yield f"policy.dtype = bfloat16 needs another GPU: {torch.cuda.get_device_name(device)} has no bfloat16"
