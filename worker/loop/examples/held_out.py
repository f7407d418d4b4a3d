"""Evaluation of a run that learns from rows: the loss on held-out rows, computed by the learner."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future
from functools import partial

from trainer_core.episodes import Group
from trainer_core.link.events import EvalData
from trainer_core.spec import RunSpec
from worker.learner.stage import LearningStage
from worker.link.client import Link
from worker.loop.reporting.reports import checked, plain


class HeldOut:
    """The evaluations of one attempt. Used only by the loop's thread; results arrive in the learning stage's."""

    def __init__(self, groups: list[Group], learning: LearningStage, link: Link, evaluated_before: bool) -> None:
        """Prepare.

        Args:
            groups: the held-out examples of all sources, the same ones in each evaluation.
            learning: computes their loss.
            link: receives the results.
            evaluated_before: whether an earlier attempt, whose checkpoint this one resumes, reported a result.
        """
        self._groups, self._learning, self._link = groups, learning, link
        self._evaluated_before = evaluated_before
        self.last: Future[dict[str, float]] | None = None
        """The latest evaluation, which may still be running."""
        self._unread: deque[dict[str, float]] = deque()

    def start(self, spec: RunSpec, step: int) -> None:
        """Start evaluating the weights after ``step``: the learner has no newer ones when its turn comes."""
        self._link.phase("evaluate", step)
        self.last = self._learning.held_out(self._groups, spec)
        self.last.add_done_callback(partial(self._report, step))

    def take_results(self) -> list[dict[str, float]]:
        """Metrics of the evaluations that ended since the last call, oldest first."""
        return [self._unread.popleft() for _ in range(len(self._unread))]

    @property
    def has_result(self) -> bool:
        """Whether the run has a result, from this attempt or from an earlier one."""
        last = self.last
        ended = last is not None and last.done() and not last.cancelled() and last.exception() is None
        return self._evaluated_before or ended

    def _report(self, step: int, future: Future[dict[str, float]]) -> None:
        if future.cancelled() or future.exception() is not None:
            return  # the loop waits for it, and ends with its error
        metrics = plain(future.result())
        self._link.emit(checked(lambda: EvalData(metrics=metrics)), step)
        self._unread.append(metrics)
