"""Trace keeper: a thread that writes and uploads a step's files while the run continues.

It never delays or ends the run. Files that cannot be written or sent in time are dropped; the run's log reports this
once, until uploads work again. Steps wait only in memory, since another attempt could not send them: the platform
accepts nothing from an attempt that is over.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from trainer_core.episodes import Group
from trainer_core.link.events import LogData
from trainer_core.link.limits import MAX_TRACE_BYTES
from trainer_core.link.traces import TraceHeader
from trainer_core.prompting.format import training_format
from trainer_core.spec import RunSpec
from worker.engine.tokenizer import PolicyTokenizer
from worker.link.traces import TraceUpload
from worker.loop.traces.choice import spread, staying
from worker.loop.traces.encoding import cut, encode, estimate

log = logging.getLogger(__name__)

STEPS_WAITING = 4
"""Maximum number of waiting steps. The oldest is dropped for a new one."""
STEP_SHARE = 8
"""Divisor of the run's budget: the groups of one step that do not stay may take this fraction of it."""
DRAIN_S = 60.0
"""Seconds that a finished run waits for its last files."""


@dataclass(frozen=True, slots=True)
class _Step:
    step: int
    groups: Sequence[Group]
    spec: RunSpec


class TraceKeeper:
    """Accepts steps from the loop's thread, and works in its own."""

    def __init__(
        self,
        run_id: str,
        attempt: int,
        upload: TraceUpload,
        tokenizer: PolicyTokenizer,
        tell: Callable[[LogData, int], object],
    ) -> None:
        """``tell`` adds a line about a step to the run's log."""
        self._run_id, self._attempt = run_id, attempt
        self._upload, self._tokenizer, self._tell = upload, tokenizer, tell
        self._waiting: deque[_Step] = deque()
        self._changed = threading.Condition()
        self._busy = self._closed = self._off = False
        self._troubled = False
        """Whether the log already says that something was dropped."""
        self._thread = threading.Thread(target=self._work, name="traces", daemon=True)
        self._thread.start()

    def keep(self, step: int, groups: Sequence[Group], spec: RunSpec) -> None:
        """Queue the groups of a learned step. Returns immediately."""
        if spec.traces.max_mib == 0:
            return
        with self._changed:
            if self._closed or self._off:
                return
            self._waiting.append(_Step(step, groups, spec))
            late = self._waiting.popleft() if len(self._waiting) > STEPS_WAITING else None
            self._changed.notify_all()
        if late is not None:
            self._trouble(late.step, "the files of earlier steps are still being written or sent")

    def drain(self, interrupt: Callable[[], None]) -> None:
        """Wait until everything is sent, for at most ``DRAIN_S``. ``interrupt`` raises if the run must end."""
        end = time.monotonic() + DRAIN_S
        while time.monotonic() < end:
            with self._changed:
                if self._changed.wait_for(lambda: not self._busy and not self._waiting, timeout=0.2):
                    return
            interrupt()
        with self._changed:
            left = [one.step for one in self._waiting]
            self._waiting.clear()
        self._trouble(
            left[0] if left else 0, f"the platform did not accept them within {DRAIN_S:.0f} s of the run's end"
        )

    def close(self) -> None:
        """Drop everything that has not been sent."""
        with self._changed:
            self._closed = True
            self._waiting.clear()
            self._changed.notify_all()
        self._upload.stop()
        self._thread.join(timeout=10.0)
        self._upload.close()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._busy = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._closed or bool(self._waiting))
                if self._closed:
                    return
                one = self._waiting.popleft()
                self._busy = True
            try:
                self._send(one)
            except Exception as error:  # whatever fails here, the run has learned its step
                log.exception("the traces of step %d", one.step)
                self._trouble(one.step, f"{type(error).__name__}: {error}")

    def _send(self, one: _Step) -> None:
        stays, others = chosen(one.groups, one.spec)
        number = 0
        for places, stay in ((stays, True), (others, False)):
            groups = [one.groups[place] for place in places]
            for group in groups:
                form = training_format(one.spec, group.source)
                group.prompt_text = group.prompt_text or self._tokenizer.prompt_text(group.item, form)
            for samples in cut(groups):
                header = TraceHeader(
                    run_id=self._run_id,
                    attempt=self._attempt,
                    step=one.step,
                    number=number,
                    stays=stay,
                    groups=len(one.groups),
                )
                data = encode(header, samples, self._tokenizer.token_text)
                number += 1
                if len(data) > MAX_TRACE_BYTES:
                    self._trouble(one.step, f"a file of {len(samples)} samples takes {len(data)} bytes")
                elif not self._sent(header, data):
                    return

    def _sent(self, header: TraceHeader, data: bytes) -> bool:
        """Send one file. Returns whether to continue with the step."""
        match self._upload.send(header, data):
            case "stored":
                self._troubled = False
                return True
            case "refused":
                self._trouble(header.step, f"the platform refuses them ({self._upload.refusal})")
                return True
            case "unknown":
                with self._changed:
                    self._off = True
                    self._waiting.clear()
                self._trouble(header.step, "the platform is older than its workers and accepts none: upgrade it")
                return False
            case "ended":
                with self._changed:
                    self._off = True
                    self._waiting.clear()
                return False

    def _trouble(self, step: int, why: str) -> None:
        if not self._troubled and not self._closed:
            self._troubled = True
            message = f"Tokens of rollouts of step {step} are not stored: {why}."
            self._tell(LogData(level="warn", message=message), step)


def chosen(groups: Sequence[Group], spec: RunSpec) -> tuple[list[int], list[int]]:
    """Indices of the groups that stay, and of others that fit into the step's share of the budget."""
    stays = staying(groups, spec.traces.groups_per_step)
    if spec.traces.full_steps == 0:
        return stays, []
    left = [place for place in range(len(groups)) if place not in set(stays)]
    room = spec.traces.max_mib * 2**20 // STEP_SHARE
    sizes = sum(estimate(groups[place]) for place in left)
    return stays, left if sizes <= room else spread(left, len(left) * room // sizes)
