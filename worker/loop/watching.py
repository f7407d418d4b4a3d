"""Checks of every step: the guards of the user, and the course of the run as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from trainer_core.spec import RunSpec
from trainer_core.steering.course import RunCourse
from trainer_core.steering.guards import GuardWatch
from worker.link.client import Link
from worker.loop.reporting.reports import calm_alert, course_alert, guard_alert


class Results(Protocol):
    """Evaluations of a run."""

    def take_results(self) -> list[dict[str, float]]:
        """Metrics of the evaluations that ended since the last call, oldest first."""
        ...


class Watching:
    """Used only by the loop's thread."""

    def __init__(self, run_id: str, spec: RunSpec, link: Link) -> None:
        self._guards, self._course, self._link = GuardWatch(spec.guards), RunCourse(run_id), link

    def step(
        self,
        step: int,
        spec: RunSpec,
        metrics: Mapping[str, float],
        evaluator: Results,
        *,
        samples: int,
        reward: str = "",
        rests: bool = False,
    ) -> str | None:
        """Check a finished step, and evaluations that ended since the previous one. Reports what is found.

        The platform makes changes and rollbacks: they are controls and runs, like those of users.

        Args:
            step: the number of the step.
            spec: the current spec, with its guards.
            metrics: as reported.
            evaluator: has the results of evaluations.
            samples: completions or examples of the step.
            reward: the reward version that scored them; empty if none did.
            rests: whether the policy is not to be updated in this step, because a critic warms up.

        Returns:
            The reason why a guard pauses the run; None if none does.
        """
        self._course.step(step, metrics, samples=samples, reward=reward, rests=rests)
        held_out = self._take_results(evaluator)
        self._tell_course(step)
        self._guards.update(spec.guards)
        reason = None
        for alert in self._guards.check(step, {**metrics, **held_out}):
            self._link.emit(guard_alert(alert), step)
            if alert.action in ("pause", "roll_back"):
                reason = alert.message
        for calm in self._guards.calm():
            self._link.emit(calm_alert(calm), step)
        return reason

    def end(self, step: int, evaluator: Results) -> None:
        """Judge the run as a whole after its last ``step`` and evaluation."""
        self._take_results(evaluator)
        self._tell_course(step, last=True)

    @property
    def ending(self) -> str:
        """Reason of the run's success: all steps are done, and what is wrong all the same."""
        wrong = " ".join(self._course.sentences)
        return f"all steps are done. {wrong}" if wrong else "all steps are done"

    def state(self) -> dict[str, Any]:
        """State for the checkpoint."""
        return {**self._guards.state(), "course": self._course.state()}

    def load(self, state: Mapping[str, Any], step: int) -> None:
        """Restore from the checkpoint of ``step``."""
        self._guards.load(state)
        self._course.load(state.get("course"), step)

    def _take_results(self, evaluator: Results) -> dict[str, float]:
        """The newest values of evaluations that have ended."""
        found: dict[str, float] = {}
        for result in evaluator.take_results():
            found |= result
            self._course.evaluation(result)
        return found

    def _tell_course(self, step: int, *, last: bool = False) -> None:
        for news in self._course.news(step, last=last):
            self._link.emit(course_alert(news), step)
