"""Build vLLM's engine core in this process, fast: no profiling run, no compilation, no sub-processes, no listeners.

An engine on several devices has one process per device (`worker/engine/devices`).

Measured on two cores for a 0.8 M-parameter policy, from process start to the first token: 36 s with `LLM(...)` and cold
caches (17 s to compile one counting function, 8 s for a sub-process that imports vLLM again to inspect the model
class); 8 to 9 s here, three quarters of it imports.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worker.engine.environment import prepare_environment
from worker.engine.types import EngineConfig, EngineError

if TYPE_CHECKING:
    from vllm.config import VllmConfig
    from vllm.v1.engine.core import EngineCore

    from worker.engine.devices.store import DistributedWeightStore
    from worker.engine.fp8 import Execution
    from worker.engine.weights import WeightStore

SUPPORTED_VLLM = "0.32"
LEAST_GPU_SHARE = 0.01
"""Share of a GPU's memory that must be free at the start."""


@dataclass(slots=True)
class CoreParts:
    """Parts of vLLM that the adapter drives."""

    core: EngineCore
    vllm_config: VllmConfig
    weights: WeightStore | DistributedWeightStore
    fp8: Execution | None
    runner: Any
    """vLLM's model runner; None if it is in other processes."""


def build_core(config: EngineConfig) -> CoreParts:
    """Start vLLM for `config`. Raises `EngineError` for another vLLM version or a directory without a model."""
    hf_config = _read_json(Path(config.model_dir) / "config.json")
    prepare_environment(config)
    import torch
    import vllm

    if not vllm.__version__.startswith(SUPPORTED_VLLM):
        raise EngineError(f"this adapter is written for vLLM {SUPPORTED_VLLM}, found {vllm.__version__}")
    from vllm.engine.arg_utils import EngineArgs
    from vllm.platforms import current_platform
    from vllm.v1.engine.core import EngineCore
    from vllm.v1.executor import Executor

    from worker.engine import fp8, graphs
    from worker.engine.devices.driver import several_devices, step_alone
    from worker.engine.devices.store import DistributedWeightStore
    from worker.engine.loader import LOAD_FORMAT, SIMULATED_FP8
    from worker.engine.models import engine_options
    from worker.engine.process import prepare_process
    from worker.engine.scheduler import DecodeScheduler
    from worker.engine.weights import WeightStore

    execution = fp8.execution(config)
    simulated = config.fp8 if execution == "simulated" else None
    by_hardware: dict[str, Any] = {}
    if config.fp8 is not None and not simulated:
        by_hardware["quantization"] = fp8.SCHEMES[config.fp8.scales]
    if not current_platform.is_cpu():
        # The KV cache size is explicit. vLLM only requires this share to be free, and others may use the GPU.
        by_hardware["gpu_memory_utilization"] = LEAST_GPU_SHARE
    architectures = hf_config.get("architectures") or []
    needed = engine_options(hf_config, routes=config.routes)
    op_priority = prepare_process(architectures, always_plain=simulated is not None, threads=config.threads)
    several = config.devices.count > 1
    if several:
        by_hardware |= several_devices(config, architectures)
    recorded = graphs.recording(config, on_cpu=current_platform.is_cpu())
    set_num_threads = torch.set_num_threads
    args = EngineArgs(
        model=config.model_dir,
        skip_tokenizer_init=True,
        dtype=config.dtype,
        max_model_len=config.max_model_len,
        max_num_seqs=config.max_num_seqs,
        max_num_batched_tokens=max(config.max_num_batched_tokens, config.max_num_seqs),
        kv_cache_memory_bytes=int(config.kv_cache_gib * 2**30),
        seed=config.seed,
        **{
            **recorded,
            "enable_prefix_caching": config.prefix_caching,
            **config.extra,
            **needed,
        },
        logprobs_mode="processed_logprobs",  # under the distribution that the token was drawn from
        generation_config="vllm",  # sampling comes with each request, never from the model directory
        load_format=LOAD_FORMAT,
        model_loader_extra_config={} if simulated is None else {SIMULATED_FP8: asdict(simulated)},
        use_tqdm_on_load=False,
        scheduler_cls=DecodeScheduler,
        # The adapter changes weights and injects tokens between steps; a step in flight would miss them.
        async_scheduling=False,
        disable_log_stats=True,
        ir_op_priority=op_priority,
        enable_prompt_embeds=False,
        **by_hardware,
    )
    with warnings.catch_warnings(), _leaving_classes_of_transformers():
        warnings.simplefilter("ignore", FutureWarning)
        vllm_config = args.create_engine_config()
        core = EngineCore(vllm_config, Executor.get_class(vllm_config), log_stats=False)
    # vLLM's CPU worker replaces this function by a no-op for the whole process.
    torch.set_num_threads = set_num_threads
    if several:
        step_alone(core)
        shared = DistributedWeightStore(core.model_executor)
        return CoreParts(core, vllm_config, shared, execution, None)
    runner = core.model_executor.driver_worker.worker.model_runner
    weights = WeightStore(
        runner.get_model(),
        vllm_config.model_config,
        runner.device,
        float32_head=config.lm_head_dtype == "float32",
        simulated_fp8=None if simulated is None else simulated.scales,
        quantised_by=vllm_config if execution == "hardware" else None,
        recorded=vllm_config.compilation_config.cudagraph_mode.has_full_cudagraphs(),
    )
    return CoreParts(core, vllm_config, weights, execution, runner)


def eos_token_ids(model_dir: str) -> tuple[int, ...]:
    """The model's own end-of-sequence tokens, from generation_config.json, else from config.json."""
    generation = Path(model_dir) / "generation_config.json"
    eos = _read_json(generation).get("eos_token_id") if generation.exists() else None
    if eos is None:
        eos = _read_json(Path(model_dir) / "config.json").get("eos_token_id")
    if eos is None:
        return ()
    return (eos,) if isinstance(eos, int) else tuple(eos)


@contextmanager
def _leaving_classes_of_transformers() -> Iterator[None]:
    """Keep vLLM from patching transformers classes for its compiler, which does not run here. Otherwise
    architectures that vLLM computes with these classes, such as OLMo 2, could not be built for any other use in this
    process.
    """
    from vllm.model_executor.models.transformers.base import Base

    own = Base._decorate_cls_for_torch_compile
    Base._decorate_cls_for_torch_compile = lambda self, cls, **_: None
    try:
        yield
    finally:
        Base._decorate_cls_for_torch_compile = own


def _read_json(path: Path) -> dict:
    if not path.is_file():
        raise EngineError(f"{path.parent} is not a model directory: {path.name} is missing")
    return json.loads(path.read_text())
