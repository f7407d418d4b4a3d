"""Writes the events of one sync to the database. The run is locked; everything commits with the acknowledgement.

A worker's journal cannot be changed, so an invalid event is recorded as an error and acknowledged. Refusing it would
block everything after it.
"""

from datetime import UTC, datetime
from typing import Any

import structlog
from django.utils import timezone
from pydantic import ValidationError

from dressage.common.actors import Actor
from dressage.common.times import iso
from dressage.rewards.proposals.services import store_proposals
from dressage.rewards.selectors import version_by_ref as reward_version
from dressage.runs.enqueue import enqueue_reconcile
from dressage.runs.facts.documents import checkpoint_document
from dressage.runs.facts.findings import FindingDocument, forget_losses, guard_actor, note, paused_by
from dressage.runs.facts.step_times import with_step
from dressage.runs.life.lifecycle import TransitionRefused, follow_wish, transition
from dressage.runs.life.services import ask_for_place
from dressage.runs.link.checkpoints import record_checkpoint
from dressage.runs.models import Attempt, Run
from dressage.runs.needs.reward_versions import reward_of
from dressage.runs.recovery.checkpoints import relative_path
from dressage.runs.states import ACTIVE, By, DesiredState, RunState
from dressage.telemetry.rollout_rows import finite, rollout_row
from dressage.telemetry.store import Bulk, encode, write
from dressage.telemetry.traces.store import take_texts
from trainer_core.link import events as link
from trainer_core.link.base import first_fault
from trainer_core.link.events import LinkEvent
from trainer_core.steering.held_out import held_out_losses

logger = structlog.get_logger(__name__)

_PACE_MEMORY = 0.8


class Ingest:
    """One sync's events."""

    def __init__(self, run: Run, attempt: Attempt) -> None:
        self.run, self.attempt, self.bulk = run, attempt, Bulk()
        self.actor = Actor.system(f"worker, attempt {attempt.number}")
        self.changed = False
        """Whether there is something new to show in browsers."""
        self.changes_wanted: list[FindingDocument] = []
        """Findings whose guards change a field."""
        self.unusable: link.UnusableCheckpoint | None = None
        """A checkpoint because of which the attempt ends."""

    def take(self, events: list[LinkEvent]) -> None:
        """Process new events, in order, and write them. Events after the run's end are ignored."""
        for event in events:
            if self.run.state not in ACTIVE:
                logger.warning("event after the end", run=self.run.id, attempt=self.attempt.number, kind=event.kind)
                continue
            try:
                data = link.event_data(event)
                getattr(self, f"_{event.kind}")(event, data)
            except ValidationError as error:
                where, fault = first_fault(error)
                self._unreadable(event, f"{where}: {fault}")
            except ValueError as error:
                self._unreadable(event, str(error))
        write(self.run.id, self.bulk, self.attempt.last_step)
        kept = ("event_seq", "step", "tokens_total", "progress", "summary", "desired_state", "findings", "updated_at")
        self.run.save(update_fields=kept)

    def _event(self, event: LinkEvent, data: dict[str, Any]) -> None:
        run = self.run
        run.event_seq += 1
        row = (run.id, run.event_seq, self.attempt.number, event.kind, event.step, _aware(event.at), encode(data))
        self.bulk.events.append(row)
        self.changed = True

    def _unreadable(self, event: LinkEvent, why: str) -> None:
        log = event.model_copy(update={"kind": "log"})
        self._event(log, {"level": "error", "message": f"An unreadable {event.kind} event of the worker: {why}"})

    def _phase(self, event: LinkEvent, data: link.PhaseData) -> None:
        known, at = self.run.progress or {}, iso(_aware(event.at))
        goes_on = (known.get("phase"), known.get("step")) == (data.phase, event.step)
        since = known.get("since", at) if goes_on else at
        self.run.progress = {**data.model_dump(), "step": event.step, "at": at, "since": since}
        self.changed = True

    def _state(self, event: LinkEvent, data: link.StateData) -> None:
        run, to = self.run, RunState(data.state)
        if run.state == to or to == RunState.STARTING:
            return
        by_guard = paused_by(run, data.reason) if to == RunState.PAUSED and not data.by_request else None
        actor = self.actor if by_guard is None else guard_actor(by_guard["guard"])
        try:
            transition(run, to, by=By.WORKER, actor=actor, reason=data.reason, detail=data.detail, step=event.step)
        except TransitionRefused as refused:
            raise ValueError(refused.detail) from refused
        if to == RunState.PAUSED and not data.by_request and run.desired_state == DesiredState.RUNNING:
            run.desired_state = DesiredState.PAUSED
        if by_guard is not None and by_guard["action"] == "roll_back":
            ask_for_place(run, actor.label, timezone.now())  # the child needs the slot
        if to == RunState.SUSPENDED:
            follow_wish(run)
        self.changed = True

    def _step(self, event: LinkEvent, data: link.StepData) -> None:
        step = self._step_of(event)
        if step <= max(self.attempt.last_step, self.attempt.resume_step):
            raise ValueError(f"step {step} comes after step {max(self.attempt.last_step, self.attempt.resume_step)}")
        self._event(event, event.data)
        run, summary = self.run, dict(self.run.summary)
        self.attempt.last_step = run.step = step
        run.tokens_total = data.tokens_total
        pace = summary.get("seconds_per_step")
        if pace is None or step <= self.attempt.resume_step + 2:
            pace = data.seconds
        else:
            pace = _PACE_MEMORY * pace + (1 - _PACE_MEMORY) * data.seconds
        # Step times from before a start say little about the current speed: the machine or number of workers may
        # differ.
        known = {} if step == self.attempt.resume_step + 1 else summary.get("times", {})
        times = with_step(known, data.seconds, data.metrics)
        summary |= {"seconds_per_step": pace, "reward": finite(data.metrics.get("critic/score/mean")), "times": times}
        for name in ("sft/loss", "preference/loss"):
            if name in data.metrics:
                summary["loss"] = finite(data.metrics[name])
        summary.pop("ledger", None)  # a worker of before has none, and an older one would be of another step
        if data.ledger is not None:
            summary["ledger"] = {"step": step, **data.ledger.model_dump()}
        run.summary = summary
        self._point(event, step, data.metrics, data.seconds)

    def _eval(self, event: LinkEvent, data: link.EvalData) -> None:
        step = self._step_of(event)
        self._event(event, event.data)
        scores = [value for name, value in data.metrics.items() if name.endswith("/score/mean")]
        if scores:
            self.run.summary = {**self.run.summary, "eval": finite(sum(scores) / len(scores))}
        losses = held_out_losses(data.metrics).values()
        if losses:
            self.run.summary = {**self.run.summary, "eval_loss": finite(sum(losses) / len(losses))}
        self._point(event, step, data.metrics, 0.0)

    def _rollouts(self, event: LinkEvent, data: link.RolloutsData) -> None:
        step = self._step_of(event)
        place = (self.run.id, self.attempt.number, step)
        scored_by = reward_of(self.run.effective_spec)
        rows = [rollout_row(*place, row, scored_by) for row in take_texts(*place, data.rows)]
        # Spelled as the worker sent them: they are checked, and JSON can carry the words for infinities.
        raw = event.data.get("worst_tokens", ())
        worst = [{key: token[key] for key in link.WorstTokenRow.model_fields if key in token} for token in raw]
        self._event(event, {"count": len(data.rows), "worst_tokens": worst})
        self.bulk.rollouts.extend(rows)

    def _rubric_proposals(self, event: LinkEvent, data: link.RubricProposalsData) -> None:
        ref = data.reward_version or reward_of(self.run.effective_spec)
        try:
            version = reward_version(self.run.team, ref)
        except LookupError as error:
            raise ValueError(str(error)) from error
        made = store_proposals(
            self.run,
            version,
            attempt=self.attempt.number,
            step=self._step_of(event),
            component=data.component,
            found=[proposal.model_dump() for proposal in data.proposals],
        )
        if made:
            facts = {"component": data.component, "reward": version.reward_id, "reward_version": ref}
            self._event(event, {**facts, "count": len(made), "names": [proposal.name for proposal in made]})

    def _outcomes(self, event: LinkEvent, data: link.OutcomesData) -> None:
        # One row per prompt and step: they are read by row, and no event announces them to browsers.
        place = (self.run.id, self.attempt.number, self._step_of(event))
        for one in data.prompts:
            source, _, row = one.prompt_id.rpartition(":")
            came = (one.right, one.graded, finite(one.reward))
            self.bulk.outcomes.append((*place, source, int(row), *came, one.ordinal, one.fate, one.reason))

    def _pass_rates(self, event: LinkEvent, data: link.PassRatesData) -> None:
        self._step_of(event)
        self._event(event, data.model_dump(mode="json"))

    def _checkpoint(self, event: LinkEvent, data: link.CheckpointData) -> None:
        forget_losses(self.run)
        checkpoint = record_checkpoint(self.run, self.attempt.number, self._step_of(event), data)
        self._event(event, {**checkpoint_document(checkpoint), "control_id": data.control_id})

    def _alert(self, event: LinkEvent, data: link.AlertData) -> None:
        unset = (name for name in ("code", "guard", "unusable") if getattr(data, name) is None)
        told = data.model_dump(exclude={"value", *unset})
        self._event(event, {**told, "value": event.data.get("value")})
        if data.unusable is not None:
            relative_path(self.run, data.unusable.path)
            self.unusable = data.unusable
        if data.guard is None:
            return
        finding = note(self.run, self._step_of(event), data, data.guard)
        if finding is not None and finding["action"] == "change":
            self.changes_wanted.append(finding)
        elif finding is not None and finding["action"] == "roll_back":
            enqueue_reconcile()

    def _log(self, event: LinkEvent, data: link.LogData) -> None:
        self._event(event, data.model_dump())

    def _point(self, event: LinkEvent, step: int, metrics: dict[str, float], seconds: float) -> None:
        attempt = self.attempt.number
        self.bulk.points.append((step, attempt, metrics))
        if seconds or step == 0:
            tokens = self.run.tokens_total
            self.bulk.moments.append((self.run.id, step, attempt, _aware(event.at), seconds, tokens))

    @staticmethod
    def _step_of(event: LinkEvent) -> int:
        if event.step is None:
            raise ValueError("the step is missing")
        return event.step


def _aware(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
