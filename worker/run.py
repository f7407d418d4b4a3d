"""The moves of a run: each method is one arrow of the loop in ``worker.controller``. Names and order are told there."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import wait as wait_futures
from typing import Any, TypeVar

import ray

from trainer_core.rollout_metrics import error_share, mismatch_metrics, pass_rate, step_metrics
from trainer_core.spec import RunSpec
from trainer_core.spec.base import Boundary
from trainer_core.spec.rollout import AsyncMode
from trainer_core.spec.thinking import TaggedThinking
from trainer_core.steering.curriculum import Curriculum
from trainer_core.steering.guards import GuardWatch
from trainer_core.trajectory import Group
from trainer_core.update.integrity import CheckpointError
from trainer_core.update.saved import SavedCheckpoint
from worker.advantages import assign_advantages
from worker.buffer import Batch, TrajectoryBuffer
from worker.bundle import Bundle
from worker.checkpoints import Checkpoints, Reason, Wish
from worker.engine import Sampling
from worker.evaluation import evaluation_batch, evaluation_due, evaluation_metrics, evaluation_sampling
from worker.events import finite, rollout_rows, shown_groups
from worker.learning import Learned
from worker.link import Link
from worker.seeds import derive_seed
from worker.startup import Parts, room_check
from worker.steering import Control, Steering

POLL_S = 0.2
"""How often a wait looks up to see whether the run shall end."""
T = TypeVar("T")


class Run:
    """State and machinery of one attempt between start-up and end. Used by the loop's thread alone."""

    def __init__(self, bundle: Bundle, parts: Parts, link: Link, interrupt: Callable[[], None]) -> None:
        """``interrupt`` raises when the run shall not go on: it is called in every wait."""
        self._link, self._parts, self._interrupt = link, parts, interrupt
        spec, state = bundle.spec, parts.state
        rows = {name: data.rows for name, data in parts.sources.items()}
        self._curriculum = Curriculum(spec, rows, spec.schedule.seed)
        self._guards = GuardWatch(spec.guards)
        self._steering = Steering(spec, bundle.revision, room_check(parts.sources))
        self._buffer = TrajectoryBuffer(
            spec.rollout.mode.max_staleness if isinstance(spec.rollout.mode, AsyncMode) else 0
        )
        self._checkpoints = Checkpoints(bundle.run_dir, bundle.attempt, spec.checkpoint.keep_last, link)
        self._threshold = bundle.reward.definition.success_threshold
        self._datasets = {source.name: source.dataset for source in spec.data.sources}
        self.first_step = 1
        self._tokens_total = 0
        self._evaluation_max_tokens = spec.rollout.max_tokens
        if state:
            self._curriculum.load(state["curriculum"])
            self._guards.load(state["guards"])
            self.first_step = state["step"] + 1
            self._tokens_total = state["tokens_total"]
            self._evaluation_max_tokens = state["evaluation_max_tokens"]
        self._version = self.first_step - 1
        """Weights that the engines serve once the work in their queue is done."""
        self._drawn_from: dict[int, dict[str, Any]] = {}
        """State of the curriculum before the batch of a step was drawn: what a checkpoint keeps."""
        self._wishes: dict[int, list[Wish]] = {}
        """Checkpoints to write, by the step after which the state is wanted."""
        self._sync: Future[tuple[float, float]] | None = None
        self._save: Future[SavedCheckpoint] | None = None
        self._saved_step = -1
        self._probe, self._sync_s = 0.0, 0.0
        self._metrics: dict[str, float] = {}
        """Of the step in hand, as far as they are known."""
        self._evaluation: Future[Batch] | None = None
        self._hold: str | None = None
        """Why the run itself wants to pause, until a person says otherwise."""
        self._mark = time.perf_counter()

    @property
    def last_step(self) -> int:
        return self._steering.spec.schedule.steps

    @property
    def overlaps(self) -> bool:
        """Whether the next batch is generated while this one is learned."""
        return self._buffer.overlaps

    # ── begin ──

    def begin(self) -> None:
        """Prove that the engines serve the learner's weights; evaluate; send out the first batch."""
        bundle = self._wait(self._parts.learning.publish())
        self.sync_weights(bundle, self._version)
        if self.first_step == 1:
            self.evaluate_if_due(0)
        self.pause_if_asked(self.first_step - 1)
        self.dispatch(self.first_step)
        self.save_if_wanted(self.first_step - 1)

    # ── sample and generate ──

    def dispatch(self, step: int) -> None:
        """Draw the prompts of ``step`` and have them generated and scored. Controls of the dispatch apply here."""
        if step > self.last_step or step in self._buffer:
            return
        controls = self._apply("group_dispatch", step, f"{step}-0", self._version)
        spec = self._steering.spec
        if controls:
            self._curriculum.update_spec(spec)
        self._drawn_from[step] = self._curriculum.state()
        draws = self._curriculum.draw(spec.schedule.prompts_per_step)
        groups = [
            Group(
                group_id=f"{step}-{index}",
                prompt_id=draw.prompt_id,
                source=draw.source,
                dataset=self._datasets[draw.source],
                item=draw.item,
                prompt_text="",
                steering_revision=self._steering.revision,
            )
            for index, draw in enumerate(draws)
        ]
        prompts = [self._parts.sources[draw.source].prompts[draw.row_index] for draw in draws]
        batch = Batch(step, spec, self._steering.revision, self._version, groups, prompts, tuple(controls))
        seed = derive_seed(spec.schedule.seed, "batch", step)
        future = self._parts.generation.generate(
            batch, spec.rollout.group_size, _sampling(spec), seed, self._progress("generate", step)
        )
        self._buffer.admit(step, self._version, future)

    def dispatch_ahead(self, step: int) -> None:
        """``dispatch`` before the step before it has ended, unless a pause is asked: what people change then counts."""
        if self._link.desired_state != "paused":
            self.dispatch(step)

    def collect(self, step: int) -> Batch:
        """Wait for tokens and rewards of ``step``; teach the curriculum. Pauses where too many rewards fail."""
        waited = time.perf_counter()
        self._wait(self._buffer.future(step))
        if self._sync is not None:
            self._probe, self._sync_s = self._sync.result()
            self._sync = None
        if self._evaluation is not None:
            self._evaluation.result()
            self._evaluation = None
        batch, staleness = self._buffer.take(step)
        trouble = _reward_trouble(batch)
        if trouble is not None:
            self._hold = trouble
            self.pause_if_asked(step - 1)
            self._wait(self._parts.generation.rescore(batch))
        for group in batch.groups:
            rate = pass_rate([group], self._threshold)
            if not math.isnan(rate):
                self._curriculum.observe(group.prompt_id, rate)
        self._metrics = {
            "staleness/mean": staleness[0],
            "staleness/max": float(staleness[1]),
            "timing_s/wait": time.perf_counter() - waited,
            "timing_s/generate": batch.generate_s,
            "timing_s/reward": batch.reward_s,
        }
        return batch

    # ── learn and publish ──

    def learn(self, batch: Batch) -> Future[Learned]:
        """Hand the batch to the learner. Controls of the optimizer step apply here."""
        step = batch.step
        controls = self._apply("optimizer_step", step, batch.groups[0].group_id, step - 1)
        batch.controls += tuple(controls)
        batch.revision = max([batch.revision, *(control.revision for control in controls)])
        self.save_if_wanted(step - 1)
        assign_advantages(batch.groups, batch.spec)
        self._link.phase("learn", step)
        return self._parts.learning.learn(batch.groups, self._steering.spec, step)

    def learned(self, update: Future[Learned], batch: Batch) -> Learned:
        """Wait for the update; meanwhile describe the batch."""
        version = batch.step - 1
        known = step_metrics(batch.groups, batch.spec, success_threshold=self._threshold, version=version)
        self._metrics |= known | {"control/revision": float(batch.revision)}
        learned = self._wait(update)
        self._metrics |= mismatch_metrics((t for group in batch.groups for t in group.trajectories), version)
        return learned

    def sync_weights(self, bundle: ray.ObjectRef, version: int) -> None:
        """Send the new weights to the engines: behind what they generate now, before what they generate next."""
        self._sync = self._parts.generation.sync(bundle)
        self._version = version

    # ── report, evaluate, save ──

    def report(self, batch: Batch, learned: Learned) -> None:
        """Tell the platform about a finished step; let the guards look at it."""
        step = batch.step
        now = time.perf_counter()
        seconds, self._mark = now - self._mark, now
        self._tokens_total += sum(t.length for group in batch.groups for t in group.trajectories)
        found = {**self._metrics, **learned.metrics, **self._performance(batch, learned, seconds)}
        self._link.emit(
            "step", {"metrics": finite(found), "tokens_total": self._tokens_total, "seconds": seconds}, step
        )
        for control in batch.controls:
            self._link.control(control.control_id, "settled", step=step, policy_version=step)
        shown = shown_groups(batch.groups)
        for group in shown:
            group.prompt_text = self._parts.tokenizer.prompt_text(group.item)
        self._link.emit("rollouts", {"rows": rollout_rows(shown)}, step)
        for alert in self._guards.check(step, found):
            data = {"level": "warn", "title": "Guard", "message": alert.message}
            self._link.emit("alert", {**data, "metric": alert.metric, "value": finite({"": alert.value})[""]}, step)
            if alert.action == "pause":
                self._hold = alert.message
        for old in [drawn for drawn in self._drawn_from if drawn <= step]:
            del self._drawn_from[old]

    def evaluate_if_due(self, step: int) -> None:
        """Queue the evaluation of the weights after ``step``; its result is reported when it is there."""
        spec = self._steering.spec
        if not evaluation_due(spec, step):
            return
        batch = evaluation_batch(self._parts.evaluations, spec, step)
        sampling = evaluation_sampling(spec, self._evaluation_max_tokens)
        seed = derive_seed(spec.schedule.seed, "evaluation")
        self._evaluation = self._parts.generation.generate(
            batch, spec.evaluation.samples_per_prompt, sampling, seed, self._progress("evaluate", step)
        )
        self._evaluation.add_done_callback(self._report_evaluation)

    def save_if_due(self, step: int) -> None:
        """Save after ``step`` where the schedule, a person or a control asks for it."""
        spec = self._steering.spec
        for request in self._steering.requested_checkpoints(self._link.commands()):
            self._wish(step, "requested", request)
        if step == self.last_step:
            self._wish(step, "final")
        elif step % spec.checkpoint.every_steps == 0:
            self._wish(step, "schedule")
        self.save_if_wanted(step)

    def save_if_wanted(self, step: int) -> None:
        """Queue the checkpoints that are wanted of the state after ``step``, in one writing."""
        wishes = self._wishes.pop(step, [])
        if not wishes:
            return
        if self._save is not None and self._saved_step == step:
            self._save.add_done_callback(lambda saved: self._announce_again(step, wishes, saved))
            return
        state = {
            "step": step,
            "curriculum": self._drawn_from.get(step + 1) or self._curriculum.state(),
            "guards": self._guards.state(),
            "tokens_total": self._tokens_total,
            "evaluation_max_tokens": self._evaluation_max_tokens,
            "revision": self._steering.revision,
        }
        self._link.phase("checkpoint", step)
        self._saved_step = step
        self._save = self._parts.learning.save(
            self._checkpoints.path(step), state, lambda saved: self._checkpoints.announce(step, wishes, saved)
        )
        self._save.add_done_callback(lambda saved: self._after_save(step, saved))

    # ── people ──

    def pause_if_asked(self, step: int) -> None:
        """Stand still after ``step`` while the platform, or the run itself, wants it. Commands are still obeyed."""
        if self._hold is None and self._link.desired_state != "paused":
            return
        reason, own = self._hold or "", self._hold is not None
        self._link.emit("state", {"state": "paused", "reason": reason or "asked to pause"}, step)
        asked = False
        while True:
            self._interrupt()
            asked = asked or self._link.desired_state == "paused"
            # A run that paused by itself goes on only after the platform has taken note and a person has resumed it.
            if self._link.desired_state == "running" and (asked or not own):
                break
            self._link.phase("waiting", step)
            for request in self._steering.requested_checkpoints(self._link.commands()):
                self._wish(step, "requested", request)
            self.save_if_wanted(step)
            time.sleep(POLL_S)
        self._hold = None
        self._link.emit("state", {"state": "running", "reason": "resumed"}, step)
        self._mark = time.perf_counter()

    def finish(self) -> None:
        """Wait for what is still in the queues: the last weights, evaluation and checkpoint."""
        queued: tuple[Future[Any] | None, ...] = (self._sync, self._evaluation, self._save)
        for future in queued:
            if future is not None:
                self._wait(future)

    # ── helpers ──

    def _apply(self, boundary: Boundary, step: int, group: str, version: int) -> list[Control]:
        """Apply the controls that are due, and wish for the checkpoint before them."""
        commands = self._link.commands()
        if not commands:
            return []
        applied, refused = self._steering.apply(commands, boundary, step)
        for control in applied:
            self._link.control(control.control_id, "applied", step=step, group=group, policy_version=version)
            if self._steering.spec.checkpoint.before_control:
                self._wish(step - 1, "before_control", control.control_id)
        for refusal in refused:
            self._link.control(refusal.control_id, "rejected", step=step, error=refusal.error)
        return applied

    def _wish(self, step: int, reason: Reason, control_id: str | None = None) -> None:
        self._wishes.setdefault(step, []).append(Wish(reason, control_id))

    def _wait(self, future: Future[T]) -> T:
        """The result, however long it takes, unless the run shall end."""
        while not wait_futures([future], timeout=POLL_S).done:
            self._interrupt()
        return future.result()

    def _progress(self, phase: str, step: int) -> Callable[[int, int], None]:
        return lambda done, total: self._link.phase(phase, step, done, total)

    def _report_evaluation(self, future: Future[Batch]) -> None:
        if future.cancelled() or future.exception() is not None:
            return  # whoever waits for the generation stage next meets the error
        batch = future.result()
        metrics = finite(evaluation_metrics(batch, self._threshold))
        self._link.emit("eval", {"metrics": metrics}, batch.step)

    def _announce_again(self, step: int, wishes: list[Wish], future: Future[SavedCheckpoint]) -> None:
        """The state that is wanted lies on the disk already, or is about to."""
        if not future.cancelled() and future.exception() is None:
            self._checkpoints.announce(step, wishes, future.result())

    def _after_save(self, step: int, future: Future[SavedCheckpoint]) -> None:
        """A full disk pauses the run; the older checkpoints are as they were."""
        error = None if future.cancelled() else future.exception()
        if isinstance(error, OSError | CheckpointError):
            self._hold = f"The checkpoint after step {step} could not be written: {error}"

    def _performance(self, batch: Batch, learned: Learned, seconds: float) -> dict[str, float]:
        stats = batch.generation
        tokens = sum(t.length for group in batch.groups for t in group.trajectories)
        samples = sum(len(group.trajectories) for group in batch.groups)
        return {
            "timing_s/step": seconds,
            "timing_s/learn": learned.learn_s,
            "timing_s/sync": self._sync_s + learned.publish_s,
            "probe/max_abs_diff": self._probe,
            "perf/throughput": tokens / seconds,
            "perf/rollouts_per_s": samples / seconds,
            "perf/engine_busy_share": sum(s.busy_s for s in stats) / max(1, len(stats)) / seconds,
            "perf/kv_usage": max((s.kv_usage for s in stats), default=0.0),
            "perf/running_sequences": sum(s.running for s in stats),
            "training/policy_version": float(batch.step),
            "training/tokens_total": float(self._tokens_total),
        }


def _sampling(spec: RunSpec) -> Sampling:
    rollout = spec.rollout
    return Sampling(
        temperature=rollout.temperature,
        top_p=rollout.top_p,
        top_k=rollout.top_k or -1,
        max_tokens=rollout.max_tokens,
        thinking_budget=spec.thinking.budget if isinstance(spec.thinking, TaggedThinking) else None,
    )


def _reward_trouble(batch: Batch) -> str | None:
    """Why the run must not go on with these rewards, or None."""
    share, reward = error_share(batch.groups), batch.spec.reward
    if share == 0.0 or (share <= reward.max_error_share and reward.on_error != "stop"):
        return None
    errors = [t.reward_error for group in batch.groups for t in group.trajectories if t.reward_error is not None]
    return f"{len(errors)} rewards of step {batch.step} ({share:.0%}) could not be computed; the first: {errors[0]}"
