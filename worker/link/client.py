"""The link to the platform: sends events, receives commands, renews the lease. One thread, HTTP connection and journal.

The platform may be away for an hour: events wait in the journal and training continues. A platform that answers
409, 401 or 403 has given the run to another attempt or revoked the token: the attempt is *fenced* and must end itself.
"""

import itertools
import json
import logging
import threading
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import httpx
from pydantic import ValidationError

from trainer_core.link import version
from trainer_core.link.base import first_fault
from trainer_core.link.commands import Applied, Command, ControlCommand, DesiredState, read_command
from trainer_core.link.events import EventData, LogData, PhaseData, StateData
from trainer_core.link.limits import BATCH_BYTES, MAX_EVENTS
from trainer_core.link.refusal import FENCED
from trainer_core.link.sync import SyncAnswer
from worker.link.answers import objection, refusal
from worker.link.journal import Journal

log = logging.getLogger(__name__)

HEARTBEAT_S = 0.5
"""Longest pause between two syncs while the platform answers, unless it requests a longer one."""
SPACING_S = 0.1
"""Shortest pause between two syncs, so that events close in time travel together."""
LONGEST_REASON = 500
"""Characters of the reason why an attempt ends."""
BACKOFF_S = (1.0, 15.0)
"""First and longest pause after a failed sync."""


class Link:
    """The worker's end of the link. Thread-safe. ``emit`` never blocks on the network or the disk."""

    def __init__(self, url: str, token: str, run_id: str, attempt: int, journal: Journal) -> None:
        self._path = f"/api/v1/link/runs/{run_id}/sync"
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", **version.header()}
        self._client = httpx.Client(base_url=url, headers=headers, timeout=httpx.Timeout(10.0, connect=3.0))
        self._attempt = attempt
        self._journal = journal
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._stop = threading.Event()
        self._next_seq = journal.last_seq + 1
        self._queue: list[dict[str, Any]] = []
        self._phase: dict[str, Any] | None = None
        self._phase_waits = False
        """Whether the journal holds an unacknowledged phase. A newer one then stays in memory."""
        self._applied: list[dict[str, Any]] = []
        self._commands: list[Command] = []
        self._unreadable: set[str] = set()
        """Commands that this worker cannot read, each reported once."""
        self._desired: DesiredState = "running"
        self._release_place = False
        self._lost: str | None = None
        self._lost_told = False
        self._disk_fails = False
        self._gpus: float | None = None
        self._pace_s = 0.0
        """Shortest pause that the platform requests."""
        self._hurried = threading.Event()
        """Set while a caller waits for all syncs to finish. No pause is then longer than ``SPACING_S``."""
        self._fenced: str | None = None
        self._objection: str | None = None
        self._synced = 0
        self._drained = threading.Condition(self._lock)
        self._thread = threading.Thread(target=self._run, name="link", daemon=True)

    def start(self) -> None:
        self._thread.start()

    @property
    def fenced(self) -> str | None:
        """Reason why the platform no longer accepts this attempt, or None."""
        return self._fenced

    @property
    def objection(self) -> str | None:
        """Reason why this worker cannot continue with the platform, whose version has changed, or None."""
        return self._objection

    @property
    def desired_state(self) -> DesiredState:
        """State that the platform last requested."""
        return self._desired

    @property
    def release_place(self) -> bool:
        """Whether a paused run must save itself and end."""
        return self._release_place

    @property
    def acked_seq(self) -> int:
        return self._journal.acked_seq

    @property
    def syncs(self) -> int:
        """Successful syncs so far."""
        return self._synced

    def commands(self) -> list[Command]:
        """The commands that the platform last sent: all for which it has no acknowledgement."""
        with self._lock:
            return list(self._commands)

    def emit(self, data: EventData, step: int | None = None) -> int:
        """Queue an event. Returns its sequence number."""
        told = {"kind": data.kind, "step": step, "at": _now(), "data": data.wire()}
        with self._lock:
            seq = self._next_seq
            self._next_seq += 1
            self._queue.append({"seq": seq, **told})
            if isinstance(data, StateData):
                self._phase = None  # belongs to the previous state: must not be reported after this one
        self._wake.set()
        return seq

    def phase(self, phase: str, step: int, done: int = 0, total: int = 0) -> None:
        """Report what the run is doing. Only the newest phase is kept, and the next sync sends it."""
        data = PhaseData(phase=phase, done=done, total=total)
        told = {"kind": data.kind, "step": step, "at": _now(), "data": data.wire()}
        with self._lock:
            self._phase = told

    def control(self, *reports: Applied) -> None:
        """Report the outcome of controls, all in the same sync, which is retried until it succeeds."""
        with self._lock:
            self._applied += [report.model_dump(mode="json") for report in reports]
        self._wake.set()

    def tell_gpus(self, gpus: float) -> None:
        """Report in every sync from now on how many GPUs the attempt holds."""
        if gpus != self._gpus:
            self._gpus = gpus
            self._wake.set()

    def give_up(self, reason: str) -> None:
        """Report, with the last events, that the attempt ends although the run has not. The platform then starts the
        next attempt without waiting for the lease to expire.

        Args:
            reason: half a sentence, such as "learner rank 0 died in update".
        """
        with self._lock:
            self._lost = reason[:LONGEST_REASON] or "a process of the run died"
        self._wake.set()

    def flush(self, timeout_s: float) -> bool:
        """Wait until everything is acknowledged (or the attempt is fenced). False: time is up."""
        self._hurried.set()
        try:
            with self._drained:
                return self._drained.wait_for(lambda: self._fenced is not None or self._is_drained(), timeout_s)
        finally:
            self._hurried.clear()

    def close(self) -> None:
        """Stop the thread. Unacknowledged events stay in the journal."""
        self._stop.set()
        self._hurried.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(timeout=15.0)
        self._client.close()

    def _is_drained(self) -> bool:
        if self._lost is not None:
            return self._lost_told
        return not (self._phase or self._applied) and self._journal.acked_seq == self._next_seq - 1

    def _run(self) -> None:
        pauses = _backoff()
        while not self._stop.is_set():
            self._collect()
            if self._sync_once():
                pauses = _backoff()
                self._pause()
            elif self._fenced is None:
                self._stop.wait(next(pauses))
            else:
                break
        self._collect()

    def _pause(self) -> None:
        """Wait until the next sync, only briefly while the journal holds more than fits in one sync."""
        self._stop.wait(SPACING_S)
        if not self._journal.unacked:
            if self._pace_s > SPACING_S:
                self._hurried.wait(self._pace_s - SPACING_S)
            self._wake.wait(max(0.0, HEARTBEAT_S - max(SPACING_S, self._pace_s)))
        self._wake.clear()

    def _collect(self) -> None:
        """Move emitted events into the journal, the newest phase last."""
        with self._lock:
            events, self._queue = self._queue, []
            if self._phase is not None and not self._phase_waits:
                events.append({"seq": self._next_seq, **self._phase})
                self._next_seq += 1
                self._phase, self._phase_waits = None, True
        if not events:
            return
        try:
            self._journal.append(events)
            self._disk_fails = False
        except OSError as error:
            self._disk_fails = True
            log.error("the journal cannot be written, events are kept in memory: %s", error)
            with self._lock:
                self._queue = events + self._queue

    def _sync_once(self) -> bool:
        with self._lock:
            applied = list(self._applied)
            more = bool(self._queue) and not self._disk_fails
        batch = self._journal.batch(MAX_EVENTS, BATCH_BYTES)
        events = ",".join(batch)
        # Nothing that comes after it is accepted, so it waits for the last events.
        lost = None if more or len(batch) < self._journal.unacked else self._lost
        told = ',"releasing":true' if self._release_place else ""
        told += "" if self._gpus is None else f',"gpus":{self._gpus}'
        told += "" if lost is None else f',"lost":{json.dumps(lost)}'
        body = f'{{"attempt":{self._attempt},"events":[{events}],"applied":{json.dumps(applied)}{told}}}'
        try:
            response = self._client.post(self._path, content=body.encode())
            if response.status_code in FENCED:
                self._fence(f"the platform answered {refusal(response)}")
                return False
            response.raise_for_status()
            answer = SyncAnswer.model_validate(response.json())
        except (httpx.HTTPError, ValueError) as error:
            log.warning("sync failed, the journal holds %d events: %s", self._journal.unacked, error)
            return False
        self._objection = objection(response)
        self._journal.acknowledge(answer.acked_seq)
        commands = self._read(answer.commands)
        with self._drained:
            del self._applied[: len(applied)]
            self._commands = commands
            self._desired, self._pace_s = answer.desired_state, answer.pace_s
            self._release_place = answer.release_place
            self._phase_waits = self._journal.unacked > 0
            self._lost_told = lost is not None
            self._synced += 1
            self._drained.notify_all()
        return True

    def _read(self, documents: Iterable[dict[str, Any]]) -> list[Command]:
        """The commands that this worker understands. The others are from a newer platform and are reported once.

        A change set with an unreadable control is not applied at all: the platform rejects all of it.
        """
        found: list[Command] = []
        torn: set[str] = set()
        for document in documents:
            try:
                found.append(read_command(document))
            except ValidationError as error:
                self._tell_unreadable(document, error)
                torn.add(str(document.get("change_set")))
        return [
            command for command in found if not (isinstance(command, ControlCommand) and command.change_set in torn)
        ]

    def _tell_unreadable(self, document: dict[str, Any], error: ValidationError) -> None:
        kind, name = document.get("type"), str(document.get("id"))
        if name in self._unreadable:
            return
        self._unreadable.add(name)
        where, fault = first_fault(error)
        reason = f"This worker cannot read the command {name} of type {kind!r}: {fault} (at {where})."
        reason = f"{reason} Upgrade the cluster's workers."
        if kind == "control":
            self.control(Applied(control_id=name, state="rejected", error=reason))
        else:
            self.emit(LogData(level="warn", message=reason))

    def _fence(self, reason: str) -> None:
        log.error("fenced: %s", reason)
        with self._drained:
            self._fenced = reason
            self._drained.notify_all()


def _backoff() -> "itertools.chain[float]":
    first, longest = BACKOFF_S
    doubling = itertools.takewhile(lambda pause: pause < longest, (first * 2**n for n in itertools.count()))
    return itertools.chain(doubling, itertools.repeat(longest))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
