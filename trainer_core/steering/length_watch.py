"""The length-bias watch of a run: collects the judge's grades, fits the bias, reports and corrects it. See
``rewards/length_bias``.

    correct(groups)      before advantages: subtracts the bias by the fit of earlier steps, and collects the grades
    close(step)          after the update: refits the window; reports when the bias exceeds the threshold

Grades are collected as the judge gave them, so that the watch sees the judge and not its own correction.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from trainer_core.episodes import Group, Trajectory
from trainer_core.rewards.definition import RewardDefinition
from trainer_core.rewards.length_bias import LengthFit, fit
from trainer_core.spec.rewards.watch import LengthBias
from trainer_core.steering.guards import Alert

METRIC = "reward/length_bias"
REST = 0.5
"""Share of the threshold below which the reaction ends again."""


class LengthWatch:
    """The watch over one component of the reward version in training. Only the loop's thread uses it."""

    def __init__(self, watch: LengthBias) -> None:
        self._watch = watch
        self._ref = ""
        self._weights: dict[str, float] = {}
        self._window: deque[tuple[float, int, float]] = deque(maxlen=watch.window)
        """Grade, length, reward of the other parts."""
        self._fresh: list[tuple[float, int, float]] = []
        """Grade, length, reward of the other parts in the current step."""
        self._fit: LengthFit | None = None
        self.active = False
        """Whether the bias is past the threshold and the reaction is active."""

    def pin(self, ref: str, definition: RewardDefinition) -> None:
        """Watch the grades of this version from now on. Grades of another version say nothing about it."""
        if ref == self._ref:
            return
        self._ref = ref
        self._weights = {component.name: component.weight for component in definition.components}
        self._window.clear()
        self._fresh.clear()
        self._fit, self.active = None, False

    def correct(self, groups: Sequence[Group]) -> None:
        """Collect the grades of scored groups and, if the reaction is active, correct them. Call it once per group.

        A corrected trajectory shows the corrected grade among its parts; ``length_correction`` is the resulting change
        of its reward.
        """
        for trajectory in (t for group in groups if group.reward_ref == self._ref for t in group.trajectories):
            parts, name = trajectory.verdict.parts, self._watch.component
            forgiven = any(error.startswith(f"{name}: ") for error in trajectory.verdict.forgiven)
            missing = trajectory.reward is None or trajectory.verdict.error is not None or name not in parts
            if missing or forgiven:
                continue  # the grade is missing, or counts as 0 because the judge failed
            rules = sum(weight * parts.get(part, 0.0) for part, weight in self._weights.items() if part != name)
            self._fresh.append((parts[name], trajectory.length, rules))
            self._take_off(trajectory, self._bias(trajectory.length))

    def close(self, step: int) -> tuple[dict[str, float], Alert | None]:
        """End a step: its grades join the window. Returns the metric, and the alert when the bias has just appeared."""
        self._window.extend(self._fresh)
        self._fresh.clear()
        if len(self._window) < self._watch.window:
            return {}, None
        self._fit = fit(*zip(*self._window, strict=True))
        if self._fit is None:
            self.active = False
            return {}, None
        value, before = self._fit.correlation, self.active
        if abs(value) > self._watch.threshold:
            self.active = True
        elif abs(value) < REST * self._watch.threshold:
            self.active = False
        return {METRIC: value}, self._alert(step, value) if self.active and not before else None

    def state(self) -> dict[str, Any]:
        """State for the checkpoint."""
        return {"ref": self._ref, "window": [list(row) for row in self._window], "active": self.active}

    def load(self, state: Mapping[str, Any]) -> None:
        """Restore from a checkpoint, with its fit. State of another reward version is ignored."""
        if state.get("ref") != self._ref:
            return
        self._window.extend((grade, length, rules) for grade, length, rules in state["window"])
        if len(self._window) == self._watch.window:
            self._fit = fit(*zip(*self._window, strict=True))
            self.active = bool(state["active"]) and self._fit is not None

    def _bias(self, length: int) -> float:
        """Amount that the reaction subtracts from the grade of a completion of ``length`` tokens."""
        if not self.active or self._fit is None:
            return 0.0
        match self._watch.reaction:
            case "normalise":
                return self._fit.on_the_line(length)
            case "recalibrate":
                return self._fit.in_its_bin(length)
            case _:
                return 0.0

    def _take_off(self, trajectory: Trajectory, bias: float) -> None:
        if bias == 0.0 or trajectory.reward is None:
            return
        change = -bias * self._weights[self._watch.component]
        verdict, name = trajectory.verdict, self._watch.component
        trajectory.verdict = replace(
            verdict,
            reward=trajectory.reward + change,
            parts={**verdict.parts, name: verdict.parts[name] - bias},
            length_correction=verdict.length_correction + change,
        )

    def _alert(self, step: int, value: float) -> Alert:
        what = "longer" if value > 0 else "shorter"
        done = {
            "alert": "Nothing is changed.",
            "normalise": "The fitted slope is subtracted from its grades from the next step.",
            "recalibrate": "Its grades are recentred within bins of length from the next step.",
            "pause": "The run pauses.",
        }[self._watch.reaction]
        message = (
            f"{self._watch.component} grades {what} completions higher than the rules do: the partial correlation of "
            f"grade and length is {value:.2f} at step {step}, above {self._watch.threshold:g}. {done}"
        )
        return Alert(METRIC, value, message, "pause" if self._watch.reaction == "pause" else "alert")
