"""Command line of the planner."""

from __future__ import annotations

import argparse
import dataclasses
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import yaml

from trainer_core.planning import PlanError, Rates, plan
from trainer_core.spec import RunSpec
from worker.plan.documents import read_rates, read_spec
from worker.plan.table import as_text


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a plan. Returns 0, or 2 after printing one sentence about the error."""
    options = _parser().parse_args(arguments)
    try:
        spec = read_spec(options.spec)
        rates = _rates(options, spec)
        plans = [plan(spec, gpus, rates, price=options.price) for gpus in _counts(options.gpus, options.sweep)]
    except PlanError as error:
        print(f"worker.plan: {error}", file=sys.stderr)
        return 2
    if options.save_rates is not None:
        options.save_rates.write_text(yaml.safe_dump(rates.model_dump(mode="json"), sort_keys=False))
    if options.json:
        print(json.dumps([dataclasses.asdict(one) for one in plans], indent=2))
    else:
        print(as_text(spec, rates, plans))
    return 0


def _rates(options: argparse.Namespace, spec: RunSpec) -> Rates:
    given = {"reward_seconds": options.reward_seconds, "loop_seconds": options.loop_seconds}
    if options.rates is not None:
        rates = read_rates(options.rates)
    elif spec.examples is not None:
        raise PlanError("engine and learner are measured on sampled completions: give --rates for a run without any.")
    else:
        policy = options.policy or Path(spec.policy.base)
        if options.prompts is None or not policy.is_dir():
            raise PlanError(
                "rates are needed: give --rates FILE, or --policy FOLDER and --prompts FILE to measure them here."
            )
        from worker.plan.measure import measure

        rates = measure(spec, policy, options.prompts, lambda text: print(f"{text} …", file=sys.stderr))
    changes = {name: value for name, value in given.items() if value is not None}
    return Rates.model_validate({**rates.model_dump(), **changes})


def _counts(gpus: int, sweep: bool) -> list[int]:
    """``gpus``, or every power of two up to it."""
    return sorted({gpus, *(2**n for n in range(1, 17) if 2**n < gpus)}) if sweep else [gpus]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m worker.plan", description=__doc__)
    parser.add_argument("spec", type=Path, help="run spec or recipe, YAML or JSON")
    parser.add_argument("--gpus", type=int, required=True, help="devices for engines and learner together")
    parser.add_argument("--sweep", action="store_true", help="also for every power of two below --gpus")
    parser.add_argument("--rates", type=Path, help="rates in YAML; if omitted, they are measured here")
    parser.add_argument("--policy", type=Path, help="folder of the policy to measure (default: policy.base)")
    parser.add_argument("--prompts", type=Path, help="dataset in JSON lines to measure with")
    parser.add_argument("--save-rates", type=Path, help="write the rates used to this file")
    parser.add_argument("--reward-seconds", type=float, help="from a completion's last token to its reward")
    parser.add_argument("--loop-seconds", type=float, help="cost of a step in addition to its phases")
    parser.add_argument("--price", type=float, help="of one GPU for an hour")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


if __name__ == "__main__":
    sys.exit(main())
