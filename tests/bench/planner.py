"""What the planner predicts for runs of this machine against what they take: median step times, in one session.

Rates are measured before and after each run, and the two predictions averaged: other work on the machine comes and
goes.
"""

from typing import Any

from tests.bench.report import Figure
from tests.bench.runs import demo_spec, train
from tests.support.installation import ROOT, Installation
from trainer_core.planning import Rates, plan
from trainer_core.planning.from_run import rates_from_steps
from trainer_core.spec import RunSpec
from trainer_core.spec.generation.rollout import Rollout
from worker.plan.measure import measure as measure_rates

STEPS, WARM = 40, 6
POLICY, PROMPTS = ROOT / "demo" / "starter-policy", ROOT / "demo" / "data" / "gsm8k-add-sub.jsonl"
_NAMES = Rollout.model_json_schema()["properties"]["mode"]["discriminator"]["mapping"]
MODES = [{"type": name} for name in sorted(_NAMES, key=["sync", "streamed", "async", "in_flight"].index)]


def measure(installation: Installation) -> list[Figure]:
    """Predicted and measured step time of each mode, and the error."""
    figures: list[Figure] = []
    rates = _rates(_spec(installation, MODES[0]))
    reported: Rates | None = None
    for mode in MODES:
        name, document, before = mode["type"], _spec(installation, mode), rates
        steps = train(installation, f"planner, {name}", document).metrics[WARM:]
        rates = _rates(document)
        taken = _median([step["timing_s/step"] for step in steps])
        predicted = (_predict(document, before) + _predict(document, rates)) / 2
        reported = reported or rates_from_steps(RunSpec.model_validate(document), steps, "a run")
        told = _predict(document, reported)
        # A run that took turns cannot tell how engine and learner slow each other down.
        shared = (before.overlap_slowdown + rates.overlap_slowdown) / 2
        both = _predict(document, reported.model_copy(update={"overlap_slowdown": shared}))
        figures += [
            Figure(f"{name}: measured step", taken * 1000, "ms"),
            Figure(f"{name}: predicted step", predicted * 1000, "ms"),
            Figure(f"{name}: error of the prediction", abs(predicted - taken) / taken, "", "≤ 0.20"),
            Figure(f"{name}: predicted from the first run's report", told * 1000, "ms"),
            Figure(f"{name}: error of that prediction", abs(told - taken) / taken, "", "≤ 0.20"),
            Figure(f"{name}: the same with the measured slowdown of overlap ({shared:.2f})", both * 1000, "ms"),
            Figure(f"{name}: error of that prediction", abs(both - taken) / taken, "", "≤ 0.20"),
        ]
    return figures


def _spec(installation: Installation, mode: dict[str, Any]) -> dict[str, Any]:
    """A learning rate of almost nothing keeps lengths as they are; without filters the whole batch is learned."""
    data = {"sources": [{"name": "add_sub", "dataset": "gsm8k-add-sub@1"}]}
    changes = {"optimizer__learning_rate": 1e-12, "rollout__mode": mode, "data": data, "filters": []}
    return demo_spec(installation, STEPS, **changes)


def _rates(document: dict[str, Any]) -> Rates:
    return measure_rates(RunSpec.model_validate(document), POLICY, PROMPTS, lambda text: None)


def _predict(document: dict[str, Any], rates: Rates) -> float:
    return plan(RunSpec.model_validate(document), 2, rates).current.step_seconds


def _median(values: list[float]) -> float:
    return sorted(values)[len(values) // 2]
