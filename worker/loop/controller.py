"""The run controller: one Ray actor per attempt, which executes the run as one loop.

                     ┌──────────────── steering: commands from the link ────────────────┐
                     ▼                                                                  ▼
   curriculum ─► dispatch ─► [engines · rewards] ─► buffer ─► collect ─► advantages ─► learn
        ▲        (≤ η ahead)      ▲       ▲        (oldest     │          (filters)     │
        │                         │       └─ parked ─ first) ◄─┘ batch is full          ▼
        └──── pass rates          └──────── sync_weights (+ probe) ◄──────────── [learning stage]
                                                                                        │
   the link ◄── journal ◄── report · evaluate · save ◄──────────────────────────────────┘

The loop is the same in every mode. Modes differ in how far ``dispatch`` may go, and in what ``sync_weights`` finds:

    sync       engines stop at a full batch; the learner works; new weights; the next batch
    streamed   the same, but ``collect`` hands finished groups to the learner, which accumulates their gradients
    async      engines never stop: groups are dispatched up to η versions ahead (also whenever the loop waits), and
               running requests continue under new weights, or finish with the old ones first
    in_flight  as async; running requests keep the keys and values of the old weights

A step is reported, saved and shown while the engines already work on the next one.
"""

from __future__ import annotations

import logging
import os
import threading
import traceback
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import ray
from ray.exceptions import RayActorError, RayTaskError

from trainer_core.link.bundle import Bundle
from trainer_core.link.events import (
    MAX_FAULT,
    PLACE_GIVEN_BACK,
    AlertData,
    AlertLevel,
    LogData,
    ReportedState,
    StateData,
    UnusableCheckpoint,
)
from worker.cluster.private_files import keep_new_files_private
from worker.errors import CheckpointUnusable, ClusterError, FencedError, PlaceReleased, StartError, WeightsRefused
from worker.link.client import Link
from worker.link.journal import Journal, journal_path
from worker.link.platform import Platform, parse_bundle
from worker.link.traces import TraceUpload
from worker.loop.held_gpus import HeldGpus

if TYPE_CHECKING:
    from worker.loop.run_loop import RunLoop
    from worker.loop.startup import Startup

log = logging.getLogger(__name__)

PLACE_FREE = "Its slot was released."
"""Start of a suspension's reason. A sentence that says where the run resumes may follow."""
FLUSH_S = 3600.0
"""Seconds that an ended attempt waits for an unreachable platform to accept its last events."""


Ending = tuple[ReportedState | None, str, str | None]
"""End of an attempt: state (None: the platform should try again, at once if there is a reason), reason, detail."""
_DIED = "process_died"
"""Alert code for a process that died."""


class Cancelled(Exception):
    """A user has cancelled the run."""


class Stopped(Exception):
    """The controller was told to stop: the attempt has been given up."""


def train(run: RunLoop[Any]) -> None:
    """Run from the first (or next) step to the last. Pauses if an engine's weights differ from the learner's."""
    try:
        _train(run)
    except WeightsRefused as refused:
        run.stand_refused(refused)


def _train(run: RunLoop[Any]) -> None:
    run.begin()
    for step in range(run.first_step, run.last_step + 1):
        run.dispatch(step)
        batch = run.collect(step)
        update = run.learn(batch)
        learned = run.learned(update, batch)
        run.sync_weights(learned.weights, step)
        run.evaluate_if_due(step)
        run.dispatch_ahead(step + 1)
        run.report(batch, learned)
        run.save_if_due(step)
        run.pause_if_asked(step)
    run.finish()


class RunController:
    """Detached Ray actor, named after run and attempt. Works in a thread, so that ``ping`` is answered."""

    def __init__(self, run_id: str, attempt: int) -> None:
        keep_new_files_private()
        self._run_id, self._attempt = run_id, attempt
        self._stopped = threading.Event()
        self._link: Link | None = None
        self._thread: threading.Thread | None = None
        self._myself = ray.get_runtime_context().current_actor

    def begin(self, link_url: str, link_token: str) -> bool:
        """Start the run's thread. Returns False if it was already started."""
        if self._thread is not None:
            return False
        self._url, self._token = link_url, link_token
        self._thread = threading.Thread(target=self._main, name="run", daemon=True)
        self._thread.start()
        return True

    def ping(self) -> dict[str, Any]:
        """Facts about a live controller."""
        link = self._link
        return {
            "run_id": self._run_id,
            "attempt": self._attempt,
            "pid": os.getpid(),
            "syncs": link.syncs if link else 0,
            "fenced": link.fenced if link else None,
        }

    def stop(self) -> None:
        """Stop without reporting to the platform, which has given up this attempt."""
        self._stopped.set()

    def _main(self) -> None:
        try:
            self._attend()
        except Exception:
            log.exception("run %s, attempt %d", self._run_id, self._attempt)
        finally:
            ray.kill(self._myself, no_restart=True)

    def _attend(self) -> None:
        """Run one attempt, from the bundle to the last event."""
        platform = Platform(self._url, self._token, self._run_id)
        try:
            document = platform.fetch_bundle(self._stopped.is_set)
        except FencedError as error:
            log.error("%s", error)
            return
        journal = Journal(journal_path(document["run_dir"], self._attempt))
        link = self._link = Link(self._url, self._token, self._run_id, self._attempt, journal)
        ran_before = journal.last_seq > 0
        link.tell_gpus(0.0)  # none until its room is reserved
        link.start()
        try:
            if ran_before:
                # Steps in the journal must not be sent twice: the platform starts a new attempt on its own.
                _alert(link, "The controller died", "A new attempt continues from the last checkpoint.", "error", _DIED)
                link.give_up("its controller died")
            else:
                self._tell(link, *self._execute(platform, document, link))
            link.flush(FLUSH_S)
        finally:
            link.close()
            platform.close()

    def _execute(self, platform: Platform, document: dict[str, Any], link: Link) -> Ending:
        """Start and train. Returns how it ended."""
        from worker.errors import AttemptLost, RolloutError, UpdateRefused

        startup: Startup | None = None
        run: RunLoop[Any] | None = None
        gpus: HeldGpus | None = None
        try:
            link.emit(StateData(state="starting"))
            if platform.objection is not None:
                raise StartError(platform.objection)
            startup = self._startup(parse_bundle(document), platform, link)
            gpus = HeldGpus(startup.gpus_held, link.tell_gpus)
            run = self._start(startup, link)
            link.emit(StateData(state="running"), run.first_step - 1)
            train(run)
            return "succeeded", run.ending, None
        except Cancelled:
            return "cancelled", "cancelled by a person", None
        except PlaceReleased as released:
            kept = str(released)
            return "suspended", f"{PLACE_FREE} {kept}" if kept else PLACE_GIVEN_BACK, None
        except (FencedError, Stopped) as error:
            log.warning("ends without a report: %s", error)
            return None, "", None
        except (StartError, ClusterError, RolloutError, UpdateRefused) as error:
            return _failed(link, startup, run, str(error))
        except CheckpointUnusable as error:
            link.emit(_unusable(error))
            return None, str(error), None
        except (AttemptLost, RayActorError) as error:
            what = str(error).splitlines()[0]
            _alert(link, "A process of the run died", f"{what} A new attempt will continue.", "error", _DIED)
            return None, what, None
        except RayTaskError as error:
            return _failed(link, startup, run, str(error.cause), traceback.format_exc())
        except Exception as error:
            return _failed(link, startup, run, f"{type(error).__name__}: {error}", traceback.format_exc())
        finally:
            try:
                if run is not None:
                    run.close()
                if startup is not None:
                    startup.close()
            finally:
                if gpus is not None:
                    gpus.close()

    def _startup(self, bundle: Bundle, platform: Platform, link: Link) -> Startup:
        """The start of a run with the objective of the bundle's spec."""
        from worker.loop.examples.startup import ExampleStartup
        from worker.loop.startup import Startup

        kind = Startup if bundle.spec.examples is None else ExampleStartup
        return kind(bundle, platform, lambda *alert: _alert(link, *alert))

    def _start(self, startup: Startup, link: Link) -> RunLoop[Any]:
        """Start the run's processes, and the run."""
        from worker.loop.examples.run import ExampleRun
        from worker.loop.examples.startup import ExampleStartup

        def tick(done: int, total: int) -> None:
            self._while_loading(link, done, total)

        if isinstance(startup, ExampleStartup):
            examples = startup.start(tick)
            _log_start(link, examples.seconds)
            return ExampleRun(startup.bundle, examples, link, self._interrupt)
        parts = startup.run(tick)
        _log_start(link, parts.seconds)
        from worker.loop.run import ActiveRun

        upload = TraceUpload(self._url, self._token, self._run_id)
        return ActiveRun(startup.bundle, parts, link, self._interrupt, upload)

    def _tell(self, link: Link, state: ReportedState | None, reason: str, detail: str | None) -> None:
        if state is None:
            if reason:
                link.give_up(reason)
            return
        traced = {} if detail is None else {"detail": detail}
        link.emit(StateData(state=state, reason=reason, **traced))

    def _while_loading(self, link: Link, done: int, total: int) -> None:
        link.phase("loading", 0, done, total)
        self._interrupt()

    def _interrupt(self) -> None:
        """Raise if the run must stop. Called in every wait of the run."""
        assert self._link is not None
        if self._stopped.is_set():
            raise Stopped("told to stop")
        if self._link.fenced is not None:
            raise FencedError(self._link.fenced)
        if self._link.objection is not None:
            raise StartError(self._link.objection)
        if self._link.desired_state == "cancelled":
            raise Cancelled


def _log_start(link: Link, took: Mapping[str, float]) -> None:
    seconds = ", ".join(f"{name} {value:.1f} s" for name, value in took.items())
    link.emit(LogData(level="info", message=f"started: {seconds}"))


def _failed(
    link: Link, startup: Startup | None, run: RunLoop[Any] | None, reason: str, detail: str | None = None
) -> Ending:
    """End as failed; or as lost, if a folder is gone that was there when the run began: a new attempt looks again."""
    from worker.loop.folders import gone_folder

    has_begun = startup is not None and (run is not None or startup.bundle.attempt > 1)
    gone = gone_folder(startup.bundle) if startup is not None and has_begun else None
    if gone is None:
        return "failed", reason, detail
    why = f"The folder {gone}, which processes of the run read when they start, is gone."
    _alert(link, "A folder of the run is gone", f"{why} A new attempt will continue. {reason}", "error", _DIED)
    return None, why, None


def _unusable(error: CheckpointUnusable) -> AlertData:
    """Alert on which the platform begins the next attempt at an older checkpoint."""
    told = UnusableCheckpoint(path=str(error.folder), fault=error.fault[:MAX_FAULT], gone=error.gone)
    message = f"{str(error).rstrip('.')}. A new attempt will continue."
    return AlertData(level="error", title="A checkpoint cannot be used", message=message, code=_DIED, unusable=told)


def _alert(link: Link, title: str, message: str, level: AlertLevel = "warn", code: str | None = None) -> None:
    link.emit(AlertData(level=level, title=title, message=message, code=code))
