"""How soon planted incidents are named, and how often one is named where nothing is wrong.

``python -m tests.bench incidents`` prints the figures of docs/incidents.md. Runs have the metrics of a recorded demo
(``tests/support/incident_runs.py``) and the guards that every run begins with; incidents are told as the page asks for
them. Seconds are those of the steps; ``_WAY`` comes on top.
"""

from collections import Counter
from collections.abc import Sequence
from statistics import median

from tests.bench.report import Figure
from tests.support.incident_plants import PLANTS, Plant
from tests.support.incident_runs import Metrics, WatchedRun, healthy, recorded

TARGET_S = 60.0
"""Seconds within which an incident is to be named."""
MOST_FALSE = 1.0
"""False alarms in 100 healthy hours, at most."""
SEEDS = 20
RUNS, STEPS = 600, 600
_SETTLES = 100
"""Steps of a healthy run before the fault: guards know what is usual by then."""
_GIVEN_UP = 400
_WAY_S = 3.0
"""Seconds from the worker's event to the page, at most: its next sync, the stream's pace, the page's own second."""


def named_after(plant: Plant, seed: int, real: Sequence[Metrics]) -> tuple[int, float] | None:
    """(steps, seconds) from the first faulty step to the one at which the incident is named; None if it never is."""
    run = WatchedRun()
    seconds = 0.0
    # Where evaluations and rescorings fall, differs from seed to seed.
    begin = _SETTLES + seed % 20
    for number, metrics in enumerate(healthy(seed, _SETTLES + _GIVEN_UP, real)):
        age = number - begin
        if age < 0:
            run.take(metrics)
            continue
        metrics = plant.change(metrics, age)
        seconds += metrics["timing_s/step"]
        run.take(metrics, plant.alerts(run.step + 1) if age == 0 else ())
        if any(one.kind == plant.kind and one.until is None and plant.is_named(one) for one in run.incidents()):
            return age + 1, seconds + _WAY_S
    return None


def false_alarms(runs: int, steps: int, real: Sequence[Metrics]) -> tuple[Counter[str], float]:
    """(how often each guard began to object, or incident of metrics alone was named; hours) in healthy runs."""
    found: Counter[str] = Counter()
    hours = 0.0
    for seed in range(runs):
        run = WatchedRun()
        for metrics in healthy(seed, steps, real, young=seed % 2 == 0):
            hours += metrics["timing_s/step"] / 3600
            found.update(run.take(metrics))
        found.update(one.kind for one in run.incidents() if all(sign.source == "metric" for sign in one.signs))
    return found, hours


def measure() -> list[Figure]:
    """One figure for each plant, and one for false alarms."""
    real = recorded()
    figures = []
    for plant in PLANTS:
        found = [named_after(plant, seed, real) for seed in range(SEEDS)]
        times = [one for one in found if one is not None]
        slowest = max((seconds for _, seconds in times), default=float("inf"))
        missed = f", {len(found) - len(times)} of {SEEDS} never" if len(times) < len(found) else ""
        steps = f"{median(one[0] for one in times):.0f} steps, the slowest of {SEEDS}{missed}" if times else "never"
        figures.append(Figure(f"{plant.name}: {steps}", slowest, "s", f"≤ {TARGET_S:.0f}"))
    found, hours = false_alarms(RUNS, STEPS, real)
    by_name = ", ".join(f"{name} {count}" for name, count in found.most_common()) or "none"
    rate = 100 * sum(found.values()) / hours
    title = f"False alarms in 100 healthy hours ({hours:.0f} hours of {RUNS} runs: {by_name})"
    return [*figures, Figure(title, rate, "", f"≤ {MOST_FALSE:.0f}")]
