"""The window of completion lengths over a run: fixed, widened stage by stage, or in cycles."""

import math
from collections import deque
from collections.abc import Mapping
from typing import Any

from trainer_core.spec.generation.length_window import CyclicWindow, FixedWindow, StagedWindow
from trainer_core.spec.run import RunSpec

LENGTH_P99 = "response_length/p99"
PERPLEXITY = "rollout_corr/rollout_ppl"


class LengthSchedule:
    """Decides how long the completions of a step may be. Staged windows use the metrics of finished steps.

    Example:
        >>> schedule = LengthSchedule(spec)
        >>> dispatched = schedule.applied(spec, step)  # at dispatch
        >>> schedule.observe(step, metrics)  # after the step
    """

    def __init__(self, spec: RunSpec) -> None:
        self._spec = spec
        self._stage = 0
        self._near: deque[bool] = deque()
        self._perplexities: deque[float] = deque()

    def max_tokens(self, step: int) -> int:
        """Longest completion of ``step`` (counted from 1), never above ``rollout.max_tokens``."""
        window, longest = self._spec.length_window, self._spec.rollout.max_tokens
        match window:
            case FixedWindow():
                return longest
            case StagedWindow():
                return min(window.stages[self._stage], longest)
            case CyclicWindow():
                return min(_cyclic(window, step - 1), longest)

    def applied(self, spec: RunSpec, step: int) -> RunSpec:
        """``spec`` for the batch of ``step``: its ``rollout.max_tokens`` is the window."""
        rollout = spec.rollout.model_copy(update={"max_tokens": self.max_tokens(step)})
        return spec.model_copy(update={"rollout": rollout})

    def observe(self, step: int, metrics: Mapping[str, float]) -> bool:
        """Record the metrics of a finished step. Returns whether the window widens from the next dispatch on.

        Steps sampled within an older window, such as a batch in flight when the window widens, say nothing about this
        window: their longest completion cannot come near it. The count starts again.
        """
        window = self._spec.length_window
        if not isinstance(window, StagedWindow) or self._stage + 1 == len(window.stages):
            return False
        long, perplexity = metrics.get(LENGTH_P99), metrics.get(PERPLEXITY)
        if long is None or perplexity is None or not math.isfinite(perplexity):
            return False
        self._near.append(long >= window.near * window.stages[self._stage])
        self._perplexities.append(perplexity)
        while len(self._near) > window.settle_steps:
            self._near.popleft()
        while len(self._perplexities) > window.settle_steps + 1:
            self._perplexities.popleft()
        if not self._settled(window):
            return False
        self._stage += 1
        self._near.clear()
        self._perplexities.clear()
        return True

    def update_spec(self, spec: RunSpec) -> None:
        """Continue under changed limits.

        Raises:
            ValueError: the type of the window or its stages have changed; nothing has changed here.
        """
        old, new = self._spec.length_window, spec.length_window
        if old.type != new.type:
            raise ValueError("the type of a run's length window cannot change")
        if isinstance(old, StagedWindow) and isinstance(new, StagedWindow) and old.stages != new.stages:
            raise ValueError("the stages of a run's length window cannot change")
        self._spec = spec

    def state(self) -> dict[str, Any]:
        """State for the checkpoint."""
        return {
            "type": self._spec.length_window.type,
            "stage": self._stage,
            "near": list(self._near),
            "perplexities": list(self._perplexities),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """Restore from a checkpoint.

        Raises:
            ValueError: the state belongs to another window; nothing has changed.
        """
        window = self._spec.length_window
        stages = len(window.stages) if isinstance(window, StagedWindow) else 1
        if state["type"] != window.type or not 0 <= state["stage"] < stages:
            raise ValueError(f"the checkpoint's length window is {state['type']}, stage {state['stage']}")
        self._stage = state["stage"]
        self._near, self._perplexities = deque(state["near"]), deque(state["perplexities"])

    def _settled(self, window: StagedWindow) -> bool:
        if len(self._perplexities) <= window.settle_steps or not all(self._near):
            return False
        first, last = self._perplexities[0], self._perplexities[-1]
        return abs(last / first - 1.0) <= window.perplexity_tolerance


def _cyclic(window: CyclicWindow, elapsed: int) -> int:
    """The window after ``elapsed`` steps, rounded to whole tokens."""
    phase = (elapsed % window.period) / window.period
    if window.shape == "step":
        return window.min if phase < 0.5 else window.max
    height = (1.0 + math.cos(2.0 * math.pi * phase)) / 2.0
    if window.shape == "stairs":
        height = round(height * window.stairs) / window.stairs
    return window.min + round((window.max - window.min) * height)
