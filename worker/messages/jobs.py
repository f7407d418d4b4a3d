"""Messages between the router and a rollout worker. Imports neither vLLM nor torch."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from worker.engine.types import Completion, PartialCompletion, Sampling, SpeculationStats
from worker.messages.chunk import Chunk
from worker.messages.episode import Dialogue, EpisodeTask
from worker.messages.probe import ProbeFigures


@dataclass(frozen=True, slots=True)
class Parked:
    """A stopped group: its finished samples, and the prefixes of the others."""

    completions: dict[int, Completion]
    """Completions by sample."""
    prefixes: dict[int, PartialCompletion]
    dialogues: dict[int, Dialogue] = field(default_factory=dict)
    """Conversations by sample, if there is an environment."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Prompt and forced end of one sample, if the samples of a group differ."""

    prompt: NDArray[np.int32]
    """Token ids, shape [P]."""
    forced_end_ids: tuple[int, ...]
    """Injected when the thinking budget is spent; empty for the engine's default."""


@dataclass(frozen=True, slots=True)
class GroupJob:
    """One group to sample."""

    name: str
    prompt: NDArray[np.int32]
    """Token ids, shape [P]."""
    samples: int
    sampling: Sampling
    parked: Parked | None = None
    """Parked completions to continue from."""
    asks: tuple[Ask, ...] = ()
    """One per sample; empty if all are the same."""
    episode: EpisodeTask | None = None
    """The environment that answers between the policy's turns; None for a single turn."""


@dataclass(frozen=True, slots=True)
class Submission:
    """Groups for one worker."""

    groups: tuple[GroupJob, ...]
    seed: int
    """Seeds an idle engine's random state: the same groups on the same weights then draw the same tokens."""
    alone: bool
    """Start when the engine is idle: nothing else then shares its steps or its random state."""
    flush: int
    """Number of finished groups sent in one message."""


@dataclass(frozen=True, slots=True)
class EngineSpan:
    """Work of an engine from ``start`` to ``end`` (seconds since the epoch): "generate" or "update"."""

    phase: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class EngineLoad:
    """An engine's state and its totals since start."""

    at: float
    """Seconds on the worker's own clock, against which ``busy_s`` grows."""
    busy_s: float
    ticks: int
    """Engine steps and other turns of its thread: grows while the worker is healthy."""
    idle: bool
    running_tokens: int
    """Prompt and completion tokens of the unfinished requests."""
    running_sum: float
    """Running sequences, summed over the engine's steps."""
    steps: int
    generated_tokens: int
    preemptions: int
    budget_violations: int
    fp8_simulated: bool | None = None
    """None if the engine is not in FP8."""
    speculation: SpeculationStats | None = None
    """None if the engine does not speculate."""


@dataclass(frozen=True, slots=True)
class Collected:
    """Groups and statistics that a worker hands over together."""

    names: tuple[str, ...]
    """Finished groups; ``chunk.groups`` are indices into it."""
    chunk: Chunk | None
    load: EngineLoad
    kv_usage: float
    """Largest share of the KV cache in use since the last collection."""
    pauses: tuple[float, ...]
    """Seconds without a token around each weight update since the last collection, if sequences were running."""
    spans: tuple[EngineSpan, ...]


@dataclass(frozen=True, slots=True)
class Updated:
    """A worker's answer to new weights."""

    version: int
    probe: ProbeFigures
