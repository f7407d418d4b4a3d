"""Parts that a started run works with."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trainer_core.planning.compute import Peaks
from trainer_core.spec.data.prompt_format import PromptFormat
from trainer_core.steering.curriculum.prior import Prior
from worker.engine.tokenizer import PolicyTokenizer
from worker.judge.client import JudgeClient
from worker.learner.stage import LearningStage
from worker.loop.evaluation import EvaluationSet
from worker.rollout.generation import GenerationStage
from worker.rollout.timeline import Timeline


@dataclass(frozen=True)
class PromptRows:
    """The rows of one dataset as one source presents them to the policy."""

    rows: list[dict[str, Any]]
    """Bare rows, as rewards see them."""
    format: PromptFormat
    """Format in which the source presents them to the policy."""
    prompts: list[NDArray[np.int32]]
    """Token ids of each prompt, shape [P]."""
    longest: int
    """Tokens of the longest prompt, with the longest text that training may append."""
    prior: Prior[int] = field(default_factory=dict)
    """Pass rates from the row notes, by row index."""


@dataclass(frozen=True)
class RunParts:
    """A run's machinery, up and running."""

    generation: GenerationStage
    learning: LearningStage
    tokenizer: PolicyTokenizer
    sources: dict[str, PromptRows]
    """Training data by source name."""
    evaluations: list[EvaluationSet]
    state: dict[str, Any]
    """State in the checkpoint besides the policy; empty for a new run."""
    timeline: Timeline
    judges: Callable[[], JudgeClient]
    """Opens the judge endpoints in this process."""
    woken: threading.Event
    """Set when something has happened that the loop may act on."""
    seconds: dict[str, float]
    """Seconds that each part took to start."""
    parameters: int
    """Parameters of the policy that a token passes through."""
    peaks: Peaks
    """Peaks of the run's devices."""
    device: str
    """Kind of device of every model: "cpu" or "cuda"."""
