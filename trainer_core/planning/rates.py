"""Speeds of the parts of a run, from which the planner computes. Measured, or read from a file; never assumed."""

from itertools import pairwise

from pydantic import model_validator

from trainer_core.planning.lengths import Lengths
from trainer_core.spec.base import SpecModel, field


class DecodePoint(SpecModel):
    """One line of an engine's table."""

    running: float = field(gt=0.0, le=1e6, unit="sequences")
    """Sequences that run at the same time."""
    tokens_per_s: float = field(gt=0.0, le=1e9, unit="tokens/s")
    """Completion tokens per second of all of them together."""


class EngineRates(SpecModel):
    """One rollout engine."""

    decode: tuple[DecodePoint, ...] = field(min_length=1, max_length=64)
    """Speed by load, in ascending order. Below the first line a decode step lasts as long as there; between two lines
    its time is linear; above the last line throughput stays what it is there."""
    prefill_tokens_per_s: float | None = field(None, gt=0.0, le=1e9, unit="tokens/s")
    """Prompt tokens of all samples per second, whatever the engine shares between the samples of a group. Empty: the
    times of ``decode`` hold the prefill as well."""
    gpus: int = field(1, ge=1, le=512)
    """Devices of one engine."""

    @model_validator(mode="after")
    def _ascends(self) -> "EngineRates":
        if any(low.running >= high.running for low, high in pairwise(self.decode)):
            raise ValueError("the lines of decode must increase in running sequences")
        return self

    def step_seconds(self, running: float) -> float:
        """Time in which each of ``running`` sequences grows by one token."""
        points = self.decode
        if running >= points[-1].running:
            return running / points[-1].tokens_per_s
        if running <= points[0].running:
            return points[0].running / points[0].tokens_per_s
        for low, high in pairwise(points):
            if running <= high.running:
                first, last = low.running / low.tokens_per_s, high.running / high.tokens_per_s
                return first + (last - first) * (running - low.running) / (high.running - low.running)
        raise AssertionError("unreachable")

    def prefill_seconds(self, tokens: float) -> float:
        """Time in which the engine reads ``tokens`` of context."""
        return 0.0 if self.prefill_tokens_per_s is None else tokens / self.prefill_tokens_per_s


class LearnerRates(SpecModel):
    """The learner's ranks."""

    tokens_per_s: float = field(gt=0.0, le=1e9, unit="tokens/s")
    """Prompt and completion tokens of one rank per second of an update: forward, backward and optimizer."""
    seconds_per_update: float = field(0.0, ge=0.0, le=3600.0, unit="s")
    """Seconds that an update costs whatever its size."""
    doubling_efficiency: float = field(1.0, gt=0.0, le=1.0)
    """Throughput of twice the ranks over twice the throughput. 1: perfect scaling."""
    gpus: int = field(1, ge=1, le=512)
    """Devices of one rank."""


class SyncRates(SpecModel):
    """The way of new weights from the learner to the engines."""

    publish_seconds: float = field(0.0, ge=0.0, le=3600.0, unit="s")
    """The learner is busy with it."""
    load_seconds: float = field(0.0, ge=0.0, le=3600.0, unit="s")
    """The engines stand still for it: load and probe."""


class Rates(SpecModel):
    """Everything that the planner must know beside the run spec."""

    source: str = field(min_length=1, max_length=2000)
    """Origin of the figures: who measured what, on which machine."""
    engine: EngineRates
    """Rates of one rollout engine."""
    learner: LearnerRates
    """Rates of the learner."""
    sync: SyncRates = SyncRates()
    """Rates of a weight update."""
    reward_seconds: float = field(0.0, ge=0.0, le=86_400.0, unit="s")
    """Seconds from a completion's last token to its reward."""
    loop_seconds: float = field(0.0, ge=0.0, le=3600.0, unit="s")
    """Seconds that a step costs beside its phases: hand-overs between processes, advantages, reports."""
    prompt_tokens: float = field(ge=1.0, le=1e7, unit="tokens")
    """Mean prompt length."""
    lengths: Lengths
    """Completion lengths; the spec's ``max_tokens`` cuts them."""
    learned_share: float = field(1.0, gt=0.0, le=1.0)
    """Share of the completions that the learner sees; filters leave out the rest."""
    overlap_slowdown: float = field(1.0, ge=1.0, le=10.0)
    """Factor on the time of engine and learner while both work, where they share a machine."""
