"""Process settings that vLLM reads from the environment at import. Call this before the first vLLM import."""

from __future__ import annotations

import os

from worker.engine.types import EngineConfig


def prepare_environment(config: EngineConfig) -> None:
    """Set what this adapter depends on, and defaults for the rest that users may override."""
    # The adapter owns the step loop, so scheduler and model must live in this process.
    os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
    threads = str(config.threads)
    defaults = {
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_LOGGING_LEVEL": "ERROR",
        "VLLM_PLUGINS": "",  # scanning every installed distribution for plugins costs start-up time
        # The V2 runner, vLLM's choice on GPUs, supports neither the scheduler's short path nor drafts, and does not
        # expose the batch that routes belong to.
        "VLLM_USE_V2_MODEL_RUNNER": "0",
        "VLLM_HOST_IP": "127.0.0.1",
        "GLOO_SOCKET_IFNAME": "lo",
        "HF_HUB_OFFLINE": "1",  # policies are local directories; never look them up elsewhere
        "OMP_NUM_THREADS": threads,
        "MKL_NUM_THREADS": threads,
        # Idle OpenMP threads must sleep: spinning ones starve the learner on the other core.
        "OMP_WAIT_POLICY": "PASSIVE",
    }
    for name, value in defaults.items():
        os.environ.setdefault(name, value)
