"""Monitor of a run's rewards: compares shadows, watches for length bias, evolves rubrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from trainer_core.episodes import Group
from trainer_core.rewards.graders.model.judge import Judges
from trainer_core.rewards.shadow import shadow_metrics
from trainer_core.spec import RunSpec
from trainer_core.steering.length_watch import LengthWatch
from worker.link.client import Link
from worker.loop.reporting.reports import metric_alert
from worker.rewards.evolution import Evolution
from worker.rewards.versions import RewardVersions


class RewardMonitor:
    """Watches the rewards of a run. Used only by the loop's thread."""

    def __init__(
        self,
        spec: RunSpec,
        versions: RewardVersions,
        link: Link,
        judges: Callable[[], Judges],
        state: Mapping[str, Any],
    ) -> None:
        """
        Args:
            spec: the run's spec at the start of the attempt.
            versions: the reward versions that the run knows.
            link: for alerts and proposals.
            judges: opens the judge endpoints if rubrics evolve.
            state: the result of ``state``; empty for a new run.
        """
        self._versions, self._link = versions, link
        bias, evolve = spec.reward.length_bias, spec.reward.evolve
        self._watch = None if bias is None else LengthWatch(bias)
        self._evolution = None if evolve is None else Evolution(evolve, judges, link.emit)
        self.update_spec(spec)
        if self._watch is not None and state.get("length_bias"):
            self._watch.load(state["length_bias"])
        if self._evolution is not None and state.get("proposed"):
            self._evolution.load(state["proposed"])

    def update_spec(self, spec: RunSpec) -> None:
        """Adopt the spec after dispatch controls: another reward version may train now."""
        self._spec = spec
        if self._watch is not None:
            ref = spec.reward.definition
            self._watch.pin(ref, self._versions.definition(ref))

    def correct(self, groups: Sequence[Group]) -> None:
        """Remove the bias from the judge's grades, if so configured. Called once per group, before advantages."""
        if self._watch is not None:
            self._watch.correct(groups)

    def threshold(self, spec: RunSpec) -> float:
        """Minimum reward of a success, under the version that ``spec`` trains on."""
        return self._versions.threshold(spec.reward.definition)

    def close(
        self, step: int, groups: Sequence[Group], prompt_text: Callable[[dict[str, Any]], str]
    ) -> tuple[dict[str, float], str | None]:
        """End a step. Returns its reward metrics, and a reason to pause or None. Rubrics may evolve."""
        metrics, hold = shadow_metrics(groups, self._versions.thresholds), None
        if self._watch is not None:
            found, alert = self._watch.close(step)
            metrics |= found
            if alert is not None:
                self._link.emit(metric_alert("The judge pays for length", alert, "length_bias"), step)
                hold = alert.message if alert.action == "pause" else None
        if self._evolution is not None:
            ref = self._spec.reward.definition
            self._evolution.consider(step, groups, ref, self._versions.definition(ref), prompt_text)
        return metrics, hold

    @property
    def last(self) -> Future[None] | None:
        """The latest round of proposals, which may still be running."""
        return None if self._evolution is None else self._evolution.last

    def state(self) -> dict[str, Any]:
        """State for the checkpoint."""
        return {
            "definitions": self._versions.state(),
            "length_bias": None if self._watch is None else self._watch.state(),
            "proposed": [] if self._evolution is None else self._evolution.state(),
        }
