"""The engine's own process, if the model runs in other processes."""

from __future__ import annotations

import gc
import os
from typing import TYPE_CHECKING, Any

from worker.engine.types import EngineConfig, EngineError

if TYPE_CHECKING:
    from vllm.v1.engine.core import EngineCore

SETTINGS = "dressage"
"""Key in vLLM's additional configuration that holds the workers' settings."""
WORKER = "worker.engine.devices.worker.EngineWorker"


def several_devices(config: EngineConfig, architectures: list[str]) -> dict[str, Any]:
    """vLLM's engine arguments for the devices of ``config``.

    Raises:
        EngineError: the configuration requests a feature that engines on several devices do not have.
    """
    for asked, name in (
        (config.routes, "policy.routing.replay"),
        (config.fp8 is not None, "rollout.engine.quantization"),
        (config.speculation != "off", "rollout.engine.speculation"),
    ):
        if asked:
            raise EngineError(f"{name} needs an engine of one device, and this one has {config.devices.count}")
    from vllm.envs import disable_envs_cache

    # vLLM may have cached the settings for an earlier engine in this process. Drop the cache so that new values count.
    disable_envs_cache()
    # The share of CPU cores that vLLM assigns to each process by default leaves none on a small host.
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
    """Make ``core`` finish every step before the next one, even if stages could work on several at the same time.

    The adapter changes weights and injects tokens between steps; a step in flight would miss them.
    """
    core.batch_queue = None
    core.step_fn = core.step


def end_alone(core: EngineCore) -> None:
    """End the processes of ``core`` without disturbing other engines in this process.

    vLLM's own shutdown of an engine also destroys the process groups of this process, which an engine on several
    devices does not use.
    """
    core.structured_output_manager.clear_backend()
    core.model_executor.shutdown()
    core.scheduler.shutdown()
    gc.unfreeze()
