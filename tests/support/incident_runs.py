"""Runs whose metrics are those of a recorded demo, step by step, and what the guards and incidents make of them."""

import json
import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from tests.bench.kept import FOLDER
from trainer_core.diagnosis.incidents import Incident, Sign, Symptoms, incidents, is_watched
from trainer_core.spec.operation.guard_presets import WATCH
from trainer_core.spec.operation.guards import Guard, MetricBound, keys
from trainer_core.steering.guards import Alert, GuardWatch

RECORDED = FOLDER / "demo_metrics.jsonl"
"""Metrics of the first 210 steps of the demo, on two loaded cores."""
SETTLED = 60
"""Step from which the demo's level moves slowly."""
EVALUATED, PROMPTS = 20, 64
"""Steps between two evaluations of the demo, and two rescorings; held-out prompts of a source."""
_RESCORED = "rollout_corr/cause/"
_BLOCK = 10
"""Steps that are taken together, in which metrics and their neighbours stay as they were."""
_SPREAD, _ALIKE = 0.15, 0.9
"""Standard deviation and correlation of neighbours of what each metric is multiplied by beyond that."""
_SHARES = ("_share", "clip_ratio", "critic/score/mean", "eff_sample_size")
"""Ends of names of metrics between 0 and 1: the demo's reward is one."""
_KEPT = 100
"""Newest steps that the page reads."""

Metrics = dict[str, float]


def recorded() -> list[Metrics]:
    """Reported metrics of each step, the first step first."""
    steps: list[Metrics] = []
    for line in RECORDED.read_text().splitlines():
        one = json.loads(line)
        points = one.get("points") or [[step, value] for step, value in enumerate(one["values"], start=1)]
        for step, value in points:
            while len(steps) < step:
                steps.append({})
            if step > 0 and value is not None:
                steps[step - 1][one["metric"]] = value
    return steps


def healthy(seed: int, steps: int, real: Sequence[Metrics], *, young: bool = True) -> Iterator[Metrics]:
    """A run in which nothing is wrong: the demo's beginning, then blocks of its settled steps in any order.

    Each metric is multiplied by noise of its own whose neighbours are alike; of a share p it is p / (1 - p). Held-out
    scores are those of ``PROMPTS`` prompts, the same each time, of which some are nearly always right and some never,
    at the mean rate that was measured.

    Args:
        seed: of the run.
        steps: how many.
        real: those of ``recorded``.
        young: whether it begins at the demo's beginning.
    """
    rng = np.random.default_rng(seed)
    settled = range(SETTLED, len(real) - _BLOCK)
    noise: dict[str, float] = {}
    order = list(range(SETTLED)) if young else []
    while len(order) < steps:
        begin = int(rng.choice(settled))
        order += range(begin, begin + _BLOCK)
    causes = [{name: value for name, value in step.items() if name.startswith(_RESCORED)} for step in real]
    rescored = [one for one in causes if one]
    prompts = {name: rng.beta(rate, 1 - rate, PROMPTS) for name, rate in _held_out_rates(real).items()}
    for number, at in enumerate(order[:steps], start=1):
        found: Metrics = {}
        for name, value in real[at].items():
            if name.startswith(("eval/", _RESCORED)):
                continue
            before = noise.get(name)
            fresh = rng.standard_normal() * _SPREAD
            noise[name] = fresh if before is None else _ALIKE * before + math.sqrt(1 - _ALIKE**2) * fresh
            factor = math.exp(noise[name])
            is_share = name.endswith(_SHARES) or name.startswith("train/pass_rate/")
            found[name] = value * factor / (1 - value + value * factor) if is_share else value * factor
        if number % EVALUATED == 0:
            for name, chances in prompts.items():
                right = rng.random(PROMPTS) < chances
                found |= {name: float(right.mean()), name.replace("/mean", "/error"): _error(right)}
            found |= rescored[int(rng.integers(len(rescored)))]
        yield found


def _error(right: NDArray[np.bool_]) -> float:
    return float(np.std(right, ddof=1)) / math.sqrt(len(right))


def _held_out_rates(real: Sequence[Metrics]) -> Metrics:
    """The mean of the settled evaluations by metric."""
    found: dict[str, list[float]] = {}
    for metrics in real[SETTLED:]:
        for name, value in metrics.items():
            if name.startswith("eval/"):
                found.setdefault(name, []).append(value)
    return {name: math.fsum(values) / len(values) for name, values in found.items()}


@dataclass
class WatchedRun:
    """What is told of a run while its steps come in: guards as the worker asks them, incidents as the page does."""

    guards: Sequence[Guard] = WATCH
    step: int = 0
    signs: dict[str, Sign] = field(default_factory=dict)
    """By name; those of guards and alerts."""

    def __post_init__(self) -> None:
        self._watch = GuardWatch(self.guards)
        self._by_key = dict(zip(keys(self.guards), self.guards, strict=True))
        self._series: dict[str, deque[tuple[int, float]]] = {}

    def take(self, metrics: Metrics, alerts: Sequence[Sign] = ()) -> list[str]:
        """Take a finished step, with what the worker tells of it. Returns the guards that have begun to object."""
        self.step += 1
        for name, value in metrics.items():
            if is_watched(name):
                self._series.setdefault(name, deque(maxlen=_KEPT)).append((self.step, value))
        acting = self._watch.check(self.step, metrics)
        self.signs |= {alert.guard: self._sign(alert) for alert in acting} | {one.name: one for one in alerts}
        for calm in self._watch.calm():
            self.signs[calm.guard] = replace(self.signs[calm.guard], until=self.step - 1)
        return [alert.guard for alert in acting]

    def incidents(self) -> list[Incident]:
        """All incidents now."""
        series = {name: list(points) for name, points in self._series.items()}
        return incidents(Symptoms(self.step, tuple(self.signs.values()), series))

    def _sign(self, alert: Alert) -> Sign:
        guard = self._by_key[alert.guard]
        low, high = (guard.min, guard.max) if isinstance(guard, MetricBound) else (None, None)
        return Sign(
            "guard", alert.guard, alert.severity, alert.since, None, alert.message, alert.metric, alert.value, low,
            high, guard.type,
        )  # fmt: skip


Change = Callable[[Metrics, int], Metrics]
"""(metrics of a healthy step, steps since the fault began, from 0) → metrics of the faulty one."""
