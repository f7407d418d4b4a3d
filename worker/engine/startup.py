"""Build vLLM's engine core in this process, fast: no profiling run, no compilation, no sub-processes, no listeners.

Measured on two cores for a 0.8 M-parameter policy, from process start to the first token: 36 s with `LLM(...)` and cold
caches (17 s of it the compilation of one counting function, 8 s a sub-process that imports vLLM again to look at the
model class), 8 to 9 s here, three quarters of it imports.
"""

from __future__ import annotations

import json
import os
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
    weights: WeightStore
    fp8: Execution | None
    runner: Any
    """vLLM's model runner."""


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
    from worker.engine.loader import LOAD_FORMAT, SIMULATED_FP8
    from worker.engine.models import engine_options, register_own
    from worker.engine.scheduler import DecodeScheduler
    from worker.engine.weights import WeightStore

    execution = fp8.execution(config)
    simulated = config.fp8 if execution == "simulated" else None
    by_hardware: dict[str, Any] = {}
    if config.fp8 is not None and not simulated:
        by_hardware["quantization"] = fp8.SCHEMES[config.fp8.scales]
    if not current_platform.is_cpu():
        # The KV cache has a size of its own; a share of the GPU would only have to be free, which others may use.
        by_hardware["gpu_memory_utilization"] = LEAST_GPU_SHARE
    architectures = hf_config.get("architectures") or []
    needed = engine_options(hf_config, routes=config.routes)
    register_own(architectures)
    _register_architectures(architectures)
    _forget_rotary_tables()
    op_priority: dict[str, list[str]] = {}
    if current_platform.is_cpu():
        from worker.engine.cpu_kernels import rotate_safely_in_torch, use_compiled_norms
        from worker.engine.models.plain_experts import use_plain_experts

        op_priority = use_compiled_norms()
        rotate_safely_in_torch()
        use_plain_experts(always=simulated is not None)
        # vLLM's latent attention on CPUs knows one head size and no chunks; expanded heads are ordinary attention.
        os.environ["VLLM_MLA_DISABLE"] = "1"
        _call_uncompiled_count()
        torch.set_num_threads(config.threads)
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
        logprobs_mode="processed_logprobs",  # under the distribution the token was drawn from
        generation_config="vllm",  # sampling comes with each request, never from the model directory
        load_format=LOAD_FORMAT,
        model_loader_extra_config={} if simulated is None else {SIMULATED_FP8: asdict(simulated)},
        use_tqdm_on_load=False,
        scheduler_cls=DecodeScheduler,
        # The adapter changes weights and injects tokens between steps; a step in flight would outrun it.
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
    """The model's own end-of-sequence tokens, from generation_config.json and else config.json."""
    generation = Path(model_dir) / "generation_config.json"
    eos = _read_json(generation).get("eos_token_id") if generation.exists() else None
    if eos is None:
        eos = _read_json(Path(model_dir) / "config.json").get("eos_token_id")
    if eos is None:
        return ()
    return (eos,) if isinstance(eos, int) else tuple(eos)


def _register_architectures(architectures: list[str]) -> None:
    """Import the model class here; vLLM would otherwise start a second Python to inspect it (8 s when not cached)."""
    from vllm.model_executor.models import ModelRegistry
    from vllm.model_executor.models.registry import _LazyRegisteredModel

    for architecture in architectures:
        known = ModelRegistry.models.get(architecture)
        if isinstance(known, _LazyRegisteredModel):
            ModelRegistry.register_model(architecture, known.load_model_cls())


def _forget_rotary_tables() -> None:
    """Let an engine make its own: in 16 bits it rounds them in place, and an engine in float32 would find them so."""
    from vllm.model_executor.layers import rotary_embedding

    rotary_embedding._ROPE_DICT.clear()


@contextmanager
def _leaving_classes_of_transformers() -> Iterator[None]:
    """Keep vLLM meanwhile from changing classes of transformers for its compiler, which does not run: architectures
    that vLLM computes with these classes, such as OLMo 2, could no longer be built for anything else in this process.
    """
    from vllm.model_executor.models.transformers.base import Base

    own = Base._decorate_cls_for_torch_compile
    Base._decorate_cls_for_torch_compile = lambda self, cls, **_: None
    try:
        yield
    finally:
        Base._decorate_cls_for_torch_compile = own


def _call_uncompiled_count() -> None:
    """Rank counting is one comparison and a sum; compiling it on CPU takes 17 s and gains nothing."""
    from vllm.v1.sample import sampler
    from vllm.v1.sample.ops import logprobs

    original = getattr(logprobs.batched_count_greater_than, "_torchdynamo_orig_callable", None)
    if original is not None:
        logprobs.batched_count_greater_than = original
        sampler.batched_count_greater_than = original


def _read_json(path: Path) -> dict:
    if not path.is_file():
        raise EngineError(f"{path.parent} is not a model directory: {path.name} is missing")
    return json.loads(path.read_text())
