"""The loop's part in the probe: the text it scores, the noise it judges by, and its results."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from ray.exceptions import RayError

from trainer_core.link.events import LogData
from trainer_core.spec import RunSpec
from worker.errors import RolloutError
from worker.learner.probe.sequences import probe_text
from worker.link.client import Link
from worker.loop.noise import KeptNoise
from worker.loop.parts import RunParts
from worker.messages.probe import ProbeFigures
from worker.seeds import derive_seed


class Probing:
    """Used by the loop's thread; results of a transfer arrive in the thread of the engines' router."""

    def __init__(self, parts: RunParts, noise: KeptNoise, link: Link, wait: Callable[[Future[Any]], Any]) -> None:
        """``wait`` returns a future's result, unless the run must end. The engines are judged by ``noise``."""
        self._parts, self._noise, self._link, self._wait = parts, noise, link, wait
        self._text: list[list[int]] = parts.state.get("probe_text", [])
        parts.generation.engines.floor = noise.floor
        self._transfer: Future[ProbeFigures] | None = None
        self._figures: ProbeFigures | None = None
        self.transfer_s = 0.0
        """Seconds that the last weight transfer took, including its probe."""

    def choose_text(self, spec: RunSpec, version: int) -> None:
        """Choose the text that engines and learner are probed with: ends of prompts and the policy's continuations.

        A resumed run keeps the text it began with.

        Args:
            spec: the run's current spec.
            version: version of the weights that the engines hold.
        """
        if not self._text:
            try:
                self._text = self._sampled_text(spec)
            except (RayError, RolloutError) as error:
                self._parts.generation.check()  # the last worker's failure is the run's
                message = f"No text could be sampled for the probe ({_cause(error)}): it uses random tokens instead."
                self._link.emit(LogData(level="warn", message=message), version)
        if self._text:
            self._parts.learning.probe_with(self._text)

    def watch(self, transfer: Future[ProbeFigures], begun: float) -> None:
        """Time a weight transfer that started at ``begun`` (performance counter), and store its figures."""

        def note(ended: Future[ProbeFigures]) -> None:
            self.transfer_s = time.perf_counter() - begun
            if not ended.cancelled() and ended.exception() is None:
                self._figures = ended.result()

        self._transfer = transfer
        transfer.add_done_callback(note)

    def tell_noise(self, version: int) -> None:
        """Wait until the noise is measured again and log it, if a user requested it."""
        if self._transfer is not None and self._noise.asked:
            self._link.emit(self._noise.told(self._wait(self._transfer)), version)

    def metrics(self) -> dict[str, float]:
        """Figures of the last probe of the engines; empty before the first."""
        return {} if self._figures is None else self._figures.metrics()

    def state(self) -> dict[str, Any]:
        """State for the checkpoint."""
        # The noise is valid only for its text: without one, the next attempt measures again.
        noise = self._noise.state(self._parts.generation.engines.floor) if self._text else None
        return {"probe_text": self._text, "probe_noise": noise}

    def _sampled_text(self, spec: RunSpec) -> list[list[int]]:
        prompts = [prompt for data in self._parts.sources.values() for prompt in data.prompts]
        engines, seed = self._parts.generation.engines, derive_seed(spec.schedule.seed, "probe")
        return probe_text(
            prompts,
            lambda begun, tokens: self._wait(engines.sample(begun, tokens, seed)),
            spec.rollout.engine.max_model_len,
            seed,
        )


def _cause(error: Exception) -> str:
    """Message of a worker's or Ray's error, in one line."""
    return (str(getattr(error, "cause", error)).splitlines() or [type(error).__name__])[0].rstrip(".")
