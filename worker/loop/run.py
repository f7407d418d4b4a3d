"""The actions of a run: each method is one arrow of the loop in ``controller``, which shows their order."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, cast

from ray.exceptions import RayTaskError

from trainer_core.link.bundle import Bundle
from trainer_core.link.events import LogData, StepData
from trainer_core.planning.compute import learned_tokens
from trainer_core.prompting.format import training_format
from trainer_core.rollout_metrics import mismatch_metrics, step_metrics
from trainer_core.spec import RunSpec
from trainer_core.spec.generation.rollout import AsyncMode
from trainer_core.steering.curriculum import Curriculum, prior
from trainer_core.steering.experience_replay import ReplayBuffer
from trainer_core.steering.staleness import GroupState
from trainer_core.steering.token_age import staleness_metrics
from worker.engine import KvOnUpdate
from worker.errors import UpdateRefused, WeightsRefused
from worker.learner.stage import Learned
from worker.learner.weights import WeightHandle
from worker.link.client import Link
from worker.link.traces import TraceUpload
from worker.loop.checkpoints import Checkpoints
from worker.loop.controls import Controls
from worker.loop.dispatch import Dispatcher
from worker.loop.evaluation import Evaluator, evaluated_before, evaluation_due
from worker.loop.lengths import room_check
from worker.loop.noise import KeptNoise
from worker.loop.parts import RunParts
from worker.loop.pausing import Pausing
from worker.loop.probing import Probing
from worker.loop.reporting.alerts import RewardAlerts, reward_trouble, stage_alert, starved_alert
from worker.loop.reporting.answer_alerts import AnswerAlerts
from worker.loop.reporting.extremes import extremes
from worker.loop.reporting.pass_rates import PassRateReports
from worker.loop.reporting.performance import Performance
from worker.loop.reporting.reports import checked, outcomes_data, plain, rollouts_data
from worker.loop.rescoring import MismatchRescoring
from worker.loop.reward_monitor import RewardMonitor
from worker.loop.run_loop import POLL_S, RunLoop, T
from worker.loop.saving import Saving
from worker.loop.steering import Steering
from worker.loop.traces.choice import staying
from worker.loop.traces.keeper import TraceKeeper
from worker.loop.updates import Updates
from worker.loop.watching import Results, Watching
from worker.messages.probe import ProbeFigures
from worker.messages.ticket import Batch
from worker.rewards.versions import RewardVersions


class ActiveRun(RunLoop[Batch]):
    """A run of reinforcement learning: engines sample, rewards score, the learner learns from groups."""

    def __init__(
        self, bundle: Bundle, parts: RunParts, link: Link, interrupt: Callable[[], None], upload: TraceUpload
    ) -> None:
        """``interrupt`` raises if the run must stop. It is called in every wait."""
        self._link, self._parts, self._interrupt = link, parts, interrupt
        self._traces = TraceKeeper(bundle.run_id, bundle.attempt, upload, parts.tokenizer, link.emit)
        spec, state = bundle.spec, parts.state
        self._guards = Watching(bundle.run_id, spec, link)
        saved = state.get("rewards", {})
        versions = RewardVersions(spec, bundle.versions, saved.get("definitions", {}), parts.generation.equip)
        self._steering = Steering(
            spec, bundle.revision, room_check(parts.sources), versions.objection, ramps=bundle.ramps
        )
        self._rewards = RewardMonitor(spec, versions, link, parts.judges, saved)
        self.first_step = state["step"] + 1 if state else 1
        self._tokens_total = state["tokens_total"] if state else 0
        rows = {name: data.rows for name, data in parts.sources.items()}
        measured = {name: data.prior for name, data in parts.sources.items()}
        priors = prior.saved(state["curriculum"]) if state else measured
        self._curriculum = Curriculum(spec, rows, spec.schedule.seed, priors)
        self._experience = ReplayBuffer(spec)
        if state:
            self._curriculum.load(state["curriculum"])
            self._guards.load(state["guards"], state["step"])
            self._experience.load(state["replay"])
            parts.timeline.resume(state["elapsed_s"])
        self._step = self.first_step - 1
        """The last step that was learned."""
        self._version: int = state.get("policy_version", self._step)
        """Version of the weights that the learner holds, and that the engines use for new requests. Counts updates: a
        step without a signal makes none. Older checkpoints counted steps."""
        self._dispatcher = Dispatcher(
            self._steering,
            self._curriculum,
            parts.sources,
            parts.generation,
            parts.tokenizer,
            after=self._step,
            threshold=versions.threshold,
            state=state or None,
        )
        resume_step = bundle.resume.step if bundle.resume else 0
        checkpoints = Checkpoints(bundle.run_dir, bundle.attempt, spec.checkpoint.keep_last, link, resume_step)
        self._saving = Saving(checkpoints, parts.learning, link, self._state)
        self._commands = Controls(self._steering, versions, link, self._saving, self._update_dispatch)
        self._performance = Performance(parts.generation, parts.parameters, parts.peaks)
        self._mismatch = MismatchRescoring(parts.generation.engines, parts.learning, parts.tokenizer)
        self._updates = Updates(
            self._steering,
            self._commands,
            self._rewards,
            parts.learning,
            self._experience,
            self._mismatch,
            self._saving.save,
        )
        first_max_tokens = state["evaluation_max_tokens"] if state else spec.rollout.max_tokens
        evaluated = bool(state.get("evaluated_at_start") or bundle.evaluated)
        self._evaluator = Evaluator(parts.evaluations, parts.generation, link, first_max_tokens, evaluated)
        self._owes_evaluation = not evaluated_before(bundle.evaluated, state)
        """Whether no attempt has evaluated the weights that this one starts from."""
        self._sync: Future[ProbeFigures] | None = None
        """The latest transfer of weights to the engines."""
        self._transport = ""
        """Name of the transport that carried it."""
        noise = KeptNoise(state.get("probe_noise"), parts.device, again=bundle.measure_noise)
        self._probing = Probing(parts, noise, link, self._wait)
        self._pausing = Pausing(link, self._saving, self._commands, self._settle, interrupt)
        self._whole_after: int | None = None
        """Step after which learner and loop are in one consistent state; None during a step."""
        self._metrics: dict[str, float] = {}
        """Metrics of the current step that are known so far."""
        self._starved = False
        self._reward_alerts, self._answer_alerts = RewardAlerts(), AnswerAlerts(versions.definition)
        self._pass_rates = PassRateReports(self._curriculum, link)

    def begin(self) -> None:
        """Verify that the engines serve the learner's weights, then evaluate."""
        self._probing.choose_text(self._steering.spec, self._step)
        weights = self._wait(self._parts.learning.publish())
        self.sync_weights(weights, self._step)
        self._whole_after = self._step
        self._probing.tell_noise(self._step)
        self._pass_rates.tell(self._step)
        if self._owes_evaluation:
            self.evaluate_if_due(self._step)
        self.pause_if_asked(self._step)
        self._performance.restart_clock()

    # ── sample and generate ──

    def dispatch(self, step: int) -> None:
        """Dispatch groups for ``step``, and for later steps if the mode allows. Dispatch controls apply here."""
        if step > self.last_step:
            return
        if self._dispatcher.wants(step):
            target, group = self._dispatcher.next_group()
            self._commands.apply("group_dispatch", min(target, self.last_step), group, self._version, self._step)
        self._dispatcher.open(step)
        self._tell_stages()

    def dispatch_ahead(self, step: int) -> None:
        """Dispatch before the previous step has ended, unless a pause is requested, so that changes during it count."""
        if self._link.desired_state != "paused":
            self.dispatch(step)

    def collect(self, step: int) -> Batch:
        """Wait for a full batch of scored groups, stop leftover groups, and update the curriculum.

        In streamed mode, finished groups go to the learner during the wait. Pauses if too many rewards fail.
        """
        waited = time.perf_counter()
        self._until(lambda: self._dispatcher.ready, step)
        batch = self._dispatcher.take(step, self._version)
        self._stop_left_over()
        if self._evaluator.last is not None and not self._steering.spec.rollout.overlaps:
            self._wait(self._evaluator.last)
        self._judge(batch)
        self._dispatcher.observe(batch.groups)
        self._dispatcher.end_step(step)
        self._metrics = {"timing_s/wait": time.perf_counter() - waited}
        return batch

    # ── learn and publish ──

    def learn(self, batch: Batch) -> Future[Learned]:
        """Hand the batch, or what is left of it, to the learner. Optimizer-step controls apply here."""
        self._whole_after = None
        update = self._updates.learn(batch, self._version)
        self._link.phase("learn", batch.step)
        return update

    def learned(self, update: Future[Learned], batch: Batch) -> Learned:
        """Wait for the update, and compute the batch's metrics in the meantime."""
        version = self._version
        known = step_metrics(batch.groups, batch.spec, version=version)
        judged, hold = self._rewards.close(batch.step, batch.groups, self._parts.tokenizer.prompt_text)
        self._metrics |= known | judged | {"control/revision": float(batch.revision)}
        self._pausing.reason = self._pausing.reason or hold
        for alert in self._answer_alerts.check(batch):
            self._link.emit(alert, batch.step)
        try:
            learned = self._wait(update)
        except RayTaskError as error:
            from trainer_core.update.learner import NonFiniteUpdate  # takes seconds, which no start should wait for

            if not isinstance(error.cause, NonFiniteUpdate):
                raise
            self._show(batch)
            self._traces.drain(self._interrupt)
            raise UpdateRefused(f"{error.cause}. {extremes(batch.groups)}") from error
        self._dispatcher.settle(batch)
        self._experience.offer(batch.groups)
        self._parts.timeline.add_ended("learner", learn=learned.learn_s, publish=learned.publish_s)
        self._metrics |= mismatch_metrics((t for group in batch.groups for t in group.trajectories), version)
        self._metrics |= staleness_metrics(batch.groups, version)
        return learned

    def sync_weights(self, weights: WeightHandle | None, step: int) -> None:
        """Send the weights after ``step`` to the engines, for new requests and, if the mode allows, for running ones.

        None: the step made no update, and the engines keep the weights that they have.
        """
        if self._sync is not None:
            self._wait(self._sync)
        if self._evaluator.last is not None and self._steering.spec.rollout.overlaps:
            self._wait(self._evaluator.last)  # one version answers all of its prompts
        self._dispatcher.advance(step, self._metrics)
        self._step = step
        version = self._version = self._version if weights is None else weights.version
        self._saving.remember(step, {**self._dispatcher.snapshot(), "policy_version": version})
        if weights is None:
            self._probing.transfer_s = 0.0
            return
        if weights.transport != self._transport:
            self._transport = weights.transport
            told = f"From version {version}, weights are sent by {weights.transport}: {weights.why}."
            self._link.emit(LogData(level="info", message=told), step)
        rollout = self._steering.spec.rollout
        alone = isinstance(rollout.mode, AsyncMode) and not rollout.mode.interruptible
        begun = time.perf_counter()
        kv: KvOnUpdate = "recompute" if rollout.recompute_kv else "keep"
        self._sync = self._parts.generation.update(weights, version, kv, alone)
        self._probing.watch(self._sync, begun)

    # ── report, evaluate, save ──

    def report(self, batch: Batch, learned: Learned) -> None:
        """Report a finished step to the platform, and let the guards check it."""
        step = batch.step
        tokens = sum(t.length for group in batch.groups for t in group.trajectories)
        learned_from = learned_tokens(batch.groups, batch.spec.parallelism.share_prompts)
        samples = sum(len(group.trajectories) for group in batch.groups)
        performance, seconds = self._performance.step(tokens, samples, learned_from)
        self._tokens_total += tokens
        found = {
            **self._metrics,
            **learned.metrics,
            **performance,
            **self._dispatcher.counted(),
            **self._mismatch.metrics(),
            **self._parts.generation.judge_metrics(),
            "timing_s/learn": learned.learn_s,
            "timing_s/sync": self._probing.transfer_s + learned.publish_s,
            **self._probing.metrics(),
            **self._saving.metrics(),
            "training/policy_version": float(self._version),
            "training/tokens_total": float(self._tokens_total),
        }
        spans = tuple(self._parts.timeline.drain())
        data = {"metrics": plain(found), "tokens_total": self._tokens_total, "seconds": seconds, "timeline": spans}
        ledger = self._dispatcher.ledger
        self._link.emit(checked(lambda: StepData.model_validate({**data, "ledger": ledger})), step)
        if (why := self._mismatch.take_failure()) is not None:
            message = f"Engine and learner could not be compared at the same weights: {why}"
            self._link.emit(LogData(level="info", message=message), step)
        self._commands.settle(batch, self._version)
        self._tell_stages()
        self._show(batch)
        for outcomes in outcomes_data(self._dispatcher.settled):
            self._link.emit(outcomes, step)
        self._pass_rates.tell(step)
        spec = self._steering.spec
        rests = spec.critic is not None and step <= spec.critic.warmup_steps
        reward = batch.spec.reward.definition
        reason = self._guards.step(step, spec, found, self._evaluator, samples=samples, reward=reward, rests=rests)
        self._pausing.reason = reason or self._pausing.reason
        self._whole_after = step

    def evaluate_if_due(self, step: int) -> None:
        """Start evaluating the weights after ``step`` if due. The result is reported when it is available."""
        spec = self._steering.spec
        if evaluation_due(spec, step):
            self._evaluator.start(spec, step, self._rewards.threshold(spec))

    # ── commands ──

    def stand_refused(self, refused: WeightsRefused) -> None:
        """Pause because engines do not compute with the learner's weights; see ``Pausing``."""
        if self._whole_after is None:
            self._pausing.stand_refused(refused, self._step, whole=False)
        else:
            self._pausing.stand_refused(refused, self._whole_after, whole=True)

    def finish(self) -> None:
        """Wait for work in progress, including the last checkpoint. Logs groups that were not trained on."""
        super().finish()
        if self._dispatcher.buffer.tickets:
            left = len(self._dispatcher.buffer.tickets)
            message = f"{left} groups were sampled and not trained on: the run ended first"
            self._link.emit(LogData(level="info", message=message), self.last_step)
        self._traces.drain(self._interrupt)

    def close(self) -> None:
        """Drop stored rollouts that have not been sent, and checkpoints that newer ones have replaced."""
        self._traces.close()
        super().close()

    def _settle(self) -> None:
        """Wait for the last weight transfer, evaluation and proposals."""
        for future in (self._sync, self._evaluator.last, self._rewards.last):
            if future is not None:
                self._wait(cast("Future[Any]", future))

    # ── waiting ──

    def _wait(self, future: Future[T]) -> T:
        """Wait for the result without a timeout, unless the run must end. Generation stays supplied."""
        future.add_done_callback(lambda _: self._parts.woken.set())
        self._until(future.done)
        return future.result()

    def _until(self, condition: Callable[[], bool], step: int | None = None) -> None:
        """Wait for ``condition`` while collecting and sending groups; with ``step``, for the batch of that step."""
        while True:
            self._dispatcher.absorb()
            # When a pause is requested, the engines get only what the current batch needs.
            if self._link.desired_state != "paused" or (step is not None and not self._dispatcher.unfinished):
                self._dispatcher.feed()
            if step is not None:
                self._link.phase("generate", step, *self._dispatcher.progress)
                self._updates.stream(step, self._dispatcher.buffer.held(GroupState.SCORED), self._version)
            if condition():
                return
            self._parts.woken.wait(POLL_S)
            self._parts.woken.clear()
            self._interrupt()
            self._parts.generation.check()

    # ── helpers ──

    @property
    def _results(self) -> Results:
        return self._evaluator

    def _restart_clock(self) -> None:
        self._performance.restart_clock()

    def _show(self, batch: Batch) -> None:
        """Report some of the step's rollouts, and store all of them."""
        spec, tokenizer = self._steering.spec, self._parts.tokenizer
        shown = [batch.groups[place] for place in staying(batch.groups, spec.traces.groups_per_step)]
        for group in shown:
            group.prompt_text = tokenizer.prompt_text(group.item, training_format(spec, group.source))
        self._link.emit(checked(lambda: rollouts_data(shown, batch.groups, tokenizer.token_text)), batch.step)
        self._traces.keep(batch.step, batch.groups, spec)

    def _tell_stages(self) -> None:
        """Report data stages that have begun."""
        for begun in self._dispatcher.begun():
            self._link.emit(stage_alert(begun, self._steering.spec), begun.step)

    def _update_dispatch(self, spec: RunSpec) -> None:
        """Pass on the spec after dispatch controls have been applied."""
        self._dispatcher.update_spec()
        self._rewards.update_spec(spec)

    def _stop_left_over(self) -> None:
        """Stop leftover groups: when generation and learning take turns, nothing runs after a full batch."""
        if self._steering.spec.rollout.overlaps:
            return
        if self._dispatcher.unfinished:
            self._dispatcher.stop()
        if self._dispatcher.drops_left_over:
            self._until(lambda: not self._dispatcher.unfinished)
            self._dispatcher.defer()

    def _judge(self, batch: Batch) -> None:
        """Pause if rewards fail, then retry them once. Reports data that cannot fill a batch."""
        for alert in self._reward_alerts.check(batch):
            self._link.emit(alert, batch.step)
        trouble = reward_trouble(batch)
        if trouble is not None:
            self._pausing.reason = trouble
            self.pause_if_asked(batch.step - 1)
            self._wait(self._parts.generation.rescore(batch.tickets))
        starved, self._starved = self._starved, self._dispatcher.starved
        if self._starved and not starved:
            refills = self._steering.spec.rollout.dynamic_sampling.max_refills
            self._link.emit(starved_alert(batch.step, refills), batch.step)

    def _state(self) -> dict[str, Any]:
        """State for the checkpoint, besides the policy and the state of dispatch."""
        return {
            "guards": self._guards.state(),
            "replay": self._experience.state(),
            "rewards": self._rewards.state(),
            "tokens_total": self._tokens_total,
            "evaluation_max_tokens": self._evaluator.max_tokens,
            "evaluated_at_start": self._evaluator.has_result,
            "revision": self._steering.revision,
            "elapsed_s": self._parts.timeline.elapsed_s,
            **self._probing.state(),
        }
