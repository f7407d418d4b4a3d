"""The one adapter that knows vLLM's API. Importing it imports neither vLLM nor torch; building an `Engine` does."""

from worker.engine.engine import Engine
from worker.engine.types import (
    Completion,
    EngineConfig,
    EngineError,
    EngineStats,
    Request,
    Sampling,
    ThinkTokens,
    WeightsRefusedError,
)

__all__ = [
    "Completion",
    "Engine",
    "EngineConfig",
    "EngineError",
    "EngineStats",
    "Request",
    "Sampling",
    "ThinkTokens",
    "WeightsRefusedError",
]
