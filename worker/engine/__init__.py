"""The one adapter that knows vLLM's API. Importing it imports neither vLLM nor torch; building an `Engine` does."""

from worker.engine.engine import Engine
from worker.engine.types import (
    AdaptiveConcurrency,
    Completion,
    EngineConfig,
    EngineError,
    EngineStats,
    KvOnUpdate,
    NgramLoop,
    Partial,
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
    "AdaptiveConcurrency",
    "Completion",
    "Engine",
    "EngineConfig",
    "EngineError",
    "EngineStats",
    "KvOnUpdate",
    "NgramLoop",
    "Partial",
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
