"""A run that learns from rows: the loop's arrows for supervised and preference training.

    rows ─► source ─► batch ─► learner ─► held-out loss, checkpoint, report

There are no engines and no rewards, so nothing is dispatched ahead and no weights are sent.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from threading import Event
from typing import Any

from trainer_core.episodes import Group
from trainer_core.link.bundle import Bundle
from trainer_core.link.events import StepData
from trainer_core.planning.compute import Peaks, learned_tokens, utilisation
from worker.learner.stage import Learned, LearningStage
from worker.learner.weights import WeightHandle
from worker.link.client import Link
from worker.loop.checkpoints import Checkpoints
from worker.loop.controls import Controls
from worker.loop.evaluation import evaluated_before, evaluation_due
from worker.loop.examples.held_out import HeldOut
from worker.loop.examples.source import DrawnRows, ExampleRows, ExampleSource
from worker.loop.pausing import Pausing
from worker.loop.reporting.reports import checked, plain
from worker.loop.run_loop import POLL_S, RunLoop, StepClock, T
from worker.loop.saving import Saving
from worker.loop.steering import Steering
from worker.loop.watching import Results, Watching
from worker.rollout.timeline import Timeline


@dataclass(frozen=True)
class ExampleParts:
    """The machinery of a run that learns from rows, up and running."""

    learning: LearningStage
    sources: dict[str, ExampleRows]
    """Training data by source name."""
    held_out: list[Group]
    """Held-out examples of all evaluation sources."""
    state: dict[str, Any]
    """State in the checkpoint besides the policy; empty for a new run."""
    timeline: Timeline
    seconds: dict[str, float]
    """Seconds that each part took to start."""
    parameters: int
    """Parameters of the policy that a token passes through."""
    peak: float
    """Operations per second of the learner's devices together."""


class ExampleRun(RunLoop[DrawnRows]):
    """State and machinery of one attempt between start-up and end."""

    def __init__(self, bundle: Bundle, parts: ExampleParts, link: Link, interrupt: Callable[[], None]) -> None:
        """``interrupt`` raises if the run must stop. It is called in every wait."""
        self._link, self._parts, self._interrupt = link, parts, interrupt
        self._woken = Event()
        spec, state = bundle.spec, parts.state
        self._guards = Watching(bundle.run_id, spec, link)
        self._steering = Steering(spec, bundle.revision, ramps=bundle.ramps)
        self._source = ExampleSource(spec, parts.sources, state or None)
        self.first_step = state["step"] + 1 if state else 1
        self._tokens_total = state["tokens_total"] if state else 0
        if state:
            self._guards.load(state["guards"], state["step"])
            parts.timeline.resume(state["elapsed_s"])
        self._step = self.first_step - 1
        """The last step that was learned."""
        self._version = parts.learning.version
        """Updates of the policy so far."""
        resume_step = bundle.resume.step if bundle.resume else 0
        checkpoints = Checkpoints(bundle.run_dir, bundle.attempt, spec.checkpoint.keep_last, link, resume_step)
        self._saving = Saving(checkpoints, parts.learning, link, self._state)
        self._saving.remember(self._step, self._snapshot())
        self._commands = Controls(self._steering, None, link, self._saving, self._source.update_spec)
        evaluated = bool(state.get("evaluated_at_start") or bundle.evaluated)
        self._held_out = HeldOut(parts.held_out, parts.learning, link, evaluated)
        self._owes_evaluation = not evaluated_before(bundle.evaluated, state)
        """Whether no attempt has evaluated the weights that this one starts from."""
        self._pausing = Pausing(link, self._saving, self._commands, self._settle, interrupt)
        self._clock = StepClock()

    def begin(self) -> None:
        """Evaluate the weights that the attempt starts from."""
        if self._owes_evaluation:
            self.evaluate_if_due(self._step)
        self.pause_if_asked(self._step)
        self._restart_clock()

    def dispatch(self, step: int) -> None:
        """Apply dispatch controls, and draw the batch of ``step``."""
        self._commands.apply("group_dispatch", step, f"{step}-0", self._version, self._step)
        steering = self._steering
        self._batch = self._source.draw(step, steering.spec, steering.revision, steering.applications)

    def dispatch_ahead(self, step: int) -> None:
        """Draw nothing: rows need no time, and those drawn later follow newer controls."""

    def collect(self, step: int) -> DrawnRows:
        """The batch of ``step``, which is there."""
        return self._batch

    def learn(self, batch: DrawnRows) -> Future[Learned]:
        """Hand the batch to the learner. Optimizer-step controls apply here."""
        batch.controls = tuple(
            self._commands.apply("optimizer_step", batch.step, f"{batch.step}-0", self._version, batch.step - 1)
        )
        batch.revision = max([batch.revision, *(control.revision for control in batch.controls)])
        self._saving.save(batch.step - 1)
        self._link.phase("learn", batch.step)
        return self._parts.learning.learn(batch.groups, self._steering.spec, batch.step)

    def learned(self, update: Future[Learned], batch: DrawnRows) -> Learned:
        """Wait for the update."""
        learned = self._wait(update)
        self._parts.timeline.add_ended("learner", learn=learned.learn_s)
        self._source.settle()
        return learned

    def sync_weights(self, weights: WeightHandle | None, step: int) -> None:
        """Note that the learner has the weights after ``step``."""
        if self._held_out.last is not None:
            self._wait(self._held_out.last)  # it was due before this update; here its error ends the run
        self._step, self._version = step, self._parts.learning.version
        self._saving.remember(step, self._snapshot())

    def report(self, batch: DrawnRows, learned: Learned) -> None:
        """Report a finished step to the platform, and let the guards check it."""
        seconds, tokens = self._clock.lap(), batch.tokens
        self._tokens_total += tokens
        passed = learned_tokens(batch.groups, batch.spec.parallelism.share_prompts)
        parts = self._parts
        found = {
            **learned.metrics,
            **self._source.metrics(batch),
            **self._saving.metrics(),
            "timing_s/step": seconds,
            "timing_s/learn": learned.learn_s,
            "perf/throughput": tokens / seconds,
            "perf/mfu": utilisation(parts.parameters, 0, passed, Peaks(parts.peak, parts.peak), seconds),
            "control/revision": float(batch.revision),
            "training/policy_version": float(self._version),
            "training/tokens_total": float(self._tokens_total),
        }
        data = {
            "metrics": plain(found),
            "tokens_total": self._tokens_total,
            "seconds": seconds,
            "timeline": tuple(parts.timeline.drain()),
            "ledger": self._source.ledger(last=batch.step == self.last_step),
        }
        self._link.emit(checked(lambda: StepData.model_validate(data)), batch.step)
        self._commands.settle(batch, self._version)
        reason = self._guards.step(batch.step, self._steering.spec, found, self._held_out, samples=len(batch.groups))
        self._pausing.reason = self._pausing.reason or reason

    def evaluate_if_due(self, step: int) -> None:
        """Start evaluating the weights after ``step`` if due. The result is reported when it is available."""
        if evaluation_due(self._steering.spec, step):
            self._held_out.start(self._steering.spec, step)

    # ── helpers ──

    @property
    def _results(self) -> Results:
        return self._held_out

    def _restart_clock(self) -> None:
        self._clock.restart()

    def _settle(self) -> None:
        if self._held_out.last is not None:
            self._wait(self._held_out.last)

    def _wait(self, future: Future[T]) -> T:
        future.add_done_callback(lambda _: self._woken.set())
        self._until(future.done)
        return future.result()

    def _until(self, condition: Callable[[], bool]) -> None:
        while not condition():
            self._woken.wait(POLL_S)
            self._woken.clear()
            self._interrupt()

    def _snapshot(self) -> dict[str, Any]:
        return {**self._source.snapshot(), "policy_version": self._version}

    def _state(self) -> dict[str, Any]:
        """State for the checkpoint, besides the policy and the source's."""
        return {
            "guards": self._guards.state(),
            "tokens_total": self._tokens_total,
            "evaluated_at_start": self._held_out.has_result,
            "revision": self._steering.revision,
            "elapsed_s": self._parts.timeline.elapsed_s,
        }
