"""The engine's own process, where the model computes in others."""

from __future__ import annotations

import gc
import os
from typing import TYPE_CHECKING, Any

from worker.engine.types import EngineConfig, EngineError

if TYPE_CHECKING:
    from vllm.v1.engine.core import EngineCore

SETTINGS = "dressage"
"""Key of vLLM's additional configuration under which workers find theirs."""
WORKER = "worker.engine.devices.worker.EngineWorker"


def several_devices(config: EngineConfig, architectures: list[str]) -> dict[str, Any]:
    """vLLM's engine arguments for the devices of ``config``.

    Raises:
        EngineError: the configuration asks for a part that engines of several devices do not have.
    """
    for asked, name in (
        (config.routes, "policy.routing.replay"),
        (config.fp8 is not None, "rollout.engine.quantization"),
        (config.speculation != "off", "rollout.engine.speculation"),
    ):
        if asked:
            raise EngineError(f"{name} needs an engine of one device, and this one has {config.devices.count}")
    from vllm.envs import disable_envs_cache

    # An engine that ran here before has vLLM remember all settings as they were; what is set from here on counts too.
    disable_envs_cache()
    # The share of CPU cores that vLLM would give each process by itself leaves none on a small host.
    os.environ.setdefault("VLLM_CPU_OMP_THREADS_BIND", "nobind")
    return {
        "tensor_parallel_size": config.devices.tensor,
        "pipeline_parallel_size": config.devices.pipeline,
        "enable_expert_parallel": config.devices.experts,
        "distributed_executor_backend": "mp",
        "worker_cls": WORKER,
        "additional_config": {
            SETTINGS: {
                "architectures": architectures,
                "threads": config.threads,
                "float32_head": config.lm_head_dtype == "float32",
            }
        },
    }


def step_alone(core: EngineCore) -> None:
    """Let ``core`` finish every step before it begins the next, also where stages could work on several at once.

    The adapter changes weights and injects tokens between steps; a step in flight would outrun it.
    """
    core.batch_queue = None
    core.step_fn = core.step


def end_alone(core: EngineCore) -> None:
    """End the processes of ``core``, and let other engines go on in this one.

    vLLM's own way to end an engine also ends the groups of this process, in which an engine of several devices has no
    part.
    """
    core.structured_output_manager.clear_backend()
    core.model_executor.shutdown()
    core.scheduler.shutdown()
    gc.unfreeze()
