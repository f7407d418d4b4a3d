"""Scores samples concurrently: samples that wait for judges or jails have their own threads; the others run in as many
threads as there are processes for pure graders."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from trainer_core.rewards.definition import RewardDefinition
from trainer_core.rewards.errors import GraderBug
from trainer_core.rewards.graders.tools import Tools
from trainer_core.rewards.score import Sample, Score, score
from trainer_core.rewards.trace import shown
from worker.judge.clock import TimedOut
from worker.scoring.watch import Watchdog


@dataclass(frozen=True, slots=True)
class Job:
    """One sample under one definition."""

    definition: RewardDefinition
    sample: Sample
    item: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Graded:
    """Outcome of a job."""

    score: Score
    seconds: float
    """Seconds from start to end of its scoring."""
    traceback: str | None = None
    """Traceback of an unexpected error in a grader."""


class Scorer:
    """Scores jobs. Thread-safe: calls share the slots for waiting samples and the slots for the others."""

    def __init__(self, tools: Tools, timeout_s: float, width: int, pure: int = 1) -> None:
        """
        Args:
            tools: the graders' tools.
            timeout_s: time limit of one sample.
            width: most samples in progress if graders wait for something.
            pure: most samples in progress if they do not: one for each process that grades them.
        """
        self.tools, self._timeout_s = tools, timeout_s
        self._watch = Watchdog()
        self._places = threading.BoundedSemaphore(width)
        self._pure = ThreadPoolExecutor(pure, "pure sample")

    def score(self, jobs: Sequence[Job]) -> list[Graded]:
        """One result per job, in order. A failure is an error of that sample only."""
        found: list[Graded | None] = [None] * len(jobs)
        threads = []
        for place, job in enumerate(jobs):
            if waits(job.definition):
                self._places.acquire()
                run = _Waiting(self, job)
                run.thread.start()
                threads.append((place, run))
        pure = [place for place, job in enumerate(jobs) if not waits(job.definition)]
        for place, graded in zip(pure, self._pure.map(self.one, [jobs[place] for place in pure]), strict=True):
            found[place] = graded
        for place, run in threads:
            found[place] = run.result()
        return [graded for graded in found if graded is not None]

    def one(self, job: Job, expired: Callable[[], object] | None = None) -> Graded:
        """Score in this thread; ``expired`` is called from another thread as soon as time is up."""
        started, trace = time.perf_counter(), None
        try:
            result = self._watch.limit(
                self._timeout_s, lambda: score(job.definition, job.sample, job.item, self.tools), expired
            )
        except TimedOut:
            result = self.late()
        except GraderBug as bug:  # in another process
            result, trace = failed(str(bug)), bug.traceback
        except Exception as error:
            # A grader's bug is this sample's error: it is shown and counted, and pauses the run if frequent.
            result, trace = failed(f"{type(error).__name__}: {error}"), shown(error)
        return Graded(result, time.perf_counter() - started, trace)

    def close(self) -> None:
        """Stop scoring."""
        self._pure.shutdown(wait=False, cancel_futures=True)
        self._watch.close()

    def late(self) -> Score:
        """The score of a sample whose time is up."""
        return failed(f"the reward took longer than {self._timeout_s:g} s")

    def leave(self) -> None:
        """Free a slot."""
        self._places.release()


class _Waiting:
    """A sample in its own thread. Once its time is up, the scorer no longer waits for the thread."""

    def __init__(self, scorer: Scorer, job: Job) -> None:
        self._scorer, self._job = scorer, job
        self._done = threading.Event()
        self._lock = threading.Lock()
        self._graded: Graded | None = None
        self._started = time.perf_counter()
        self.thread = threading.Thread(target=self._run, name="sample", daemon=True)

    def result(self) -> Graded:
        self._done.wait()
        assert self._graded is not None
        return self._graded

    def _run(self) -> None:
        self._settle(self._scorer.one(self._job, self._expire))

    def _expire(self) -> None:
        self._settle(Graded(self._scorer.late(), time.perf_counter() - self._started))

    def _settle(self, graded: Graded) -> None:
        with self._lock:
            if self._graded is not None:
                return
            self._graded = graded
        self._scorer.leave()
        self._done.set()


def failed(message: str) -> Score:
    """The score of a sample whose reward could not be computed."""
    return Score(reward=None, parts={}, error=message)


def waits(definition: RewardDefinition) -> bool:
    """Whether any part waits for something outside the process or for a model."""
    return definition.needs_jail or bool(definition.endpoints or definition.reward_models)
