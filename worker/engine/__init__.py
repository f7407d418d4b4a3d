"""The one adapter that knows vLLM's API. Importing it imports neither vLLM nor torch; building an `InferenceEngine`
does."""

from worker.engine.engine import InferenceEngine
from worker.engine.types import (
    Completion,
    ConcurrencyConfig,
    EngineConfig,
    EngineDevices,
    EngineError,
    EngineStats,
    Fp8Config,
    KvOnUpdate,
    NgramLoop,
    PartialCompletion,
    ProbabilityRun,
    Prune,
    Request,
    SampleGroup,
    Sampling,
    ThinkingState,
    ThinkTokens,
    TopTokens,
    WeightsRefusedError,
)

__all__ = [
    "Completion",
    "ConcurrencyConfig",
    "EngineConfig",
    "EngineDevices",
    "EngineError",
    "EngineStats",
    "Fp8Config",
    "InferenceEngine",
    "KvOnUpdate",
    "NgramLoop",
    "PartialCompletion",
    "ProbabilityRun",
    "Prune",
    "Request",
    "SampleGroup",
    "Sampling",
    "ThinkTokens",
    "ThinkingState",
    "TopTokens",
    "WeightsRefusedError",
]
