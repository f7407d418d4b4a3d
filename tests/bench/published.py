"""Recipes at published size: what the planner says of them, and the same specs on tiny policies.

``python -m tests.bench.recipes published`` runs all and writes docs/benchmarks-published.md.
"""

from __future__ import annotations

import json
import math
import tempfile
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from tests.support.installation import ROOT
from tests.worker.loop.platform_double import PlatformDouble
from trainer_core.datasets import recognise
from trainer_core.planning import plan
from trainer_core.planning.lengths import Lengths
from trainer_core.planning.machines import MACHINES
from trainer_core.planning.memory import GIB, memory
from trainer_core.planning.models import MODELS
from trainer_core.spec.recipes import Published, Recipe, list_published

if TYPE_CHECKING:
    from tests.support.warm_loop import WarmLoop

TOKENS = 24
"""Longest completion of a tiny run; all other lengths shrink by the same factor."""
CONTEXT = 1024
PROMPTS = 2
GROUP = 4
STEPS = 2
ROWS = 8
FILES = {
    "gsm8k": "references/gsm8k/test.jsonl",
    "gsm8k-test": "references/gsm8k/test.jsonl",
    "dapo-math": "shapes/deepmath-roll.jsonl",
    "math-hard": "references/math500/test.jsonl",
    "math-graded": "references/math500/test.jsonl",
    "general": "shapes/ifeval.jsonl",
    "questions": "shapes/ifeval.jsonl",
    "polaris": "references/math500/test.jsonl",
    "aime-2024": "references/math500/test.jsonl",
    "mbpp": "references/mbpp/sanitized-mbpp.json",
    "if-prompts": "shapes/ifeval.jsonl",
    "ifeval": "shapes/ifeval.jsonl",
}
"""Rows of the same shape, or near it, that tiny runs are given for each dataset."""
PASS_RATES = {"pass_rate_first": 0.5, "pass_rate_second": 0.5}
"""Columns of a filter in two stages, which the rows lack."""
SIGNAL = {
    "name": "signal",
    "weight": 0.1,
    "grader": {"type": "text_similarity", "reference": "The sum of both numbers is even."},
}
"""Part added to each reward of a tiny run: a random policy solves nothing, and equal rewards would train nothing."""


@dataclass(frozen=True)
class Estimate:
    """Answers of the planner for one recipe on its machine."""

    learner_gib: float
    engine_gib: float
    room_gib: float
    step_seconds: float


@dataclass(frozen=True)
class Outcome:
    """What a tiny run has shown."""

    steps: int
    state: str
    mismatch: float
    """Largest mean difference between engine and learner, in nats."""
    trained: float
    """Largest gradient norm."""
    errors: float
    seconds: float
    alerts: tuple[str, ...]


def needs(recipe: Recipe) -> Published:
    """What a recipe at published size needs."""
    assert recipe.published is not None
    return recipe.published


def estimate(recipe: Recipe) -> Estimate:
    """Memory and time of the recipe as it stands, on the machine that it names."""
    own, spec = needs(recipe), recipe.run_spec()
    machine, size = MACHINES[own.machine], MODELS[own.model]
    need = memory(size, spec)
    engines, ranks = spec.parallelism.rollout_workers, spec.parallelism.learner_ranks
    rates = machine.rates(size, spec, own.prompt_tokens, TypeAdapter(Lengths).validate_python(own.lengths))
    return Estimate(
        learner_gib=need.learner.peak / GIB,
        engine_gib=need.engine.total / GIB,
        room_gib=machine.room(need, engines, ranks) / GIB,
        # Where both share one GPU, each is counted as a device, and works at half speed while the other does.
        step_seconds=plan(spec, max(machine.gpus, engines + ranks), rates).current.step_seconds,
    )


def scaled(recipe: Recipe) -> dict[str, Any]:
    """The recipe for a tiny policy: lengths, batch, cache and steps are smaller, all else is the recipe's own."""
    spec = recipe.run_spec().model_dump(mode="json")
    rollout, reward, schedule = spec["rollout"], spec["reward"], spec["schedule"]
    factor = TOKENS / rollout["max_tokens"]

    def length(tokens: int) -> int:
        return max(1, math.floor(tokens * factor))

    for part in (reward["overlong"], reward["length"]):
        if part and "buffer" in part:
            part["buffer"] = length(part["buffer"])
    if spec["thinking"].get("budget"):
        spec["thinking"]["budget"] = length(spec["thinking"]["budget"])
    if spec["length_window"]["type"] == "staged":
        spec["length_window"] |= {
            "stages": [length(stage) for stage in spec["length_window"]["stages"]],
            "settle_steps": 1,
        }
    for one in spec["filters"]:
        if one["type"] == "repetition":
            one |= {"max_period": 4, "min_repeats": 4}
    rollout |= {"max_tokens": TOKENS, "group_size": min(rollout["group_size"], GROUP)}
    rollout["dynamic_sampling"]["max_refills"] = 1
    rollout["engine"] |= {"max_model_len": CONTEXT, "max_num_seqs": 16, "kv_cache_gib": 0.1}
    schedule["updates_per_step"] = min(schedule["updates_per_step"], PROMPTS)
    schedule |= {"steps": STEPS, "prompts_per_step": PROMPTS}
    spec["optimizer"]["warmup_steps"] = min(spec["optimizer"]["warmup_steps"], 1)
    spec["parallelism"] |= {
        "rollout_workers": 1,
        "learner_ranks": 1,
        "reward_workers": 1,
        "max_tokens_per_microbatch": 2 * CONTEXT,
    }
    spec["evaluation"] |= {"every_steps": STEPS, "max_prompts": 1, "samples_per_prompt": 1}
    spec["checkpoint"]["every_steps"] = STEPS
    spec["diagnosis"]["every_steps"] = 0
    if spec["data"]["transition"]:
        spec["data"]["transition"] |= {"start": 1, "end": 2}
    reward["evolve"] = reward["length_bias"] = None
    return spec


def rows(slug: str) -> list[dict[str, Any]]:
    """The shortest rows that stand for a dataset, as an upload stores them."""
    text = (ROOT / "tests" / "data" / FILES[slug]).read_text()
    found: Iterable[Any] = json.loads(text) if text.startswith("[") else map(json.loads, text.splitlines())
    mapped = [recognise(row).convert(row) for row in found]
    if slug == "math-graded":
        mapped = [row | PASS_RATES for row in mapped]
    return sorted(mapped, key=lambda row: len(json.dumps(row.get("messages", row.get("prompt")))))[:ROWS]


def bundle(platform: PlatformDouble, recipe: Recipe, policy: Path) -> dict[str, Any]:
    """What the platform hands out for the scaled recipe."""
    from tests.support.warm_loop import demo_bundle

    spec = scaled(recipe)
    named = {source["dataset"] for source in [*spec["data"]["sources"], *spec["evaluation"]["sources"]]}
    data = {name: rows(name.partition("@")[0]) for name in named}
    # A tiny run has no judge to ask.
    rewards = {
        slug: definition
        | {"components": [*(part for part in definition["components"] if part["grader"]["type"] != "rubric"), SIGNAL]}
        for slug, definition in needs(recipe).rewards.items()
    }
    return demo_bundle(platform, spec, policy, data, rewards)


def run(loop: WarmLoop, recipe: Recipe, policies: Path) -> Outcome:
    """Two steps of the scaled recipe through the whole loop, on a tiny policy of its architecture."""
    from trainer_core.starter.architectures import make_tiny

    own = needs(recipe)
    folder = policies / own.architecture
    if not folder.exists():
        make_tiny(own.architecture, folder, dtype="bfloat16")
    began, platform = time.monotonic(), PlatformDouble()
    try:
        loop.run(platform, bundle(platform, recipe, folder))
        metrics = [event["data"]["metrics"] for event in platform.of("step")]
        return Outcome(
            steps=len(metrics),
            state=platform.states()[-1],
            mismatch=max((abs(m.get("rollout_corr/kl", 0.0)) for m in metrics), default=math.nan),
            trained=max((m.get("actor/grad_norm", 0.0) for m in metrics), default=math.nan),
            errors=max((m["reward/error_share"] for m in metrics), default=math.nan),
            seconds=time.monotonic() - began,
            alerts=tuple(str(event["data"].get("message", "")) for event in platform.of("alert")),
        )
    finally:
        platform.close()


def main() -> None:
    """Run every recipe at its small scale, and write the page."""
    from tests.bench.recipes import bench

    outcomes: dict[str, Outcome] = {}
    with bench() as (loop, _), tempfile.TemporaryDirectory(prefix="dressage-published-") as policies:
        for recipe in list_published():
            outcomes[recipe.name] = run(loop, recipe, Path(policies))
            print(recipe.name, outcomes[recipe.name], flush=True)
            write(outcomes)


def write(outcomes: Mapping[str, Outcome]) -> None:
    """Write docs/benchmarks-published.md."""
    lines = [
        "# Recipes at published size",
        "",
        "Written by `python -m tests.bench.recipes published`. Each file of `trainer_core/spec/recipes/published`",
        "names the source of every figure, and says what of the published run does not fit.",
        "",
        "Memory is the planner's estimate for the fullest GPU of the machine; *room* is what it leaves beside 2 GiB",
        "for the libraries of each process. Time is **computed**, not measured: from the makers' peaks (H100 SXM: 989",
        "TFLOP/s in bfloat16, 3.35 TB/s; the 24 GB card: 165 TFLOP/s, 1.0 TB/s), 0.35 of peak in the learner, 0.5 of",
        "peak or 0.6 of the bandwidth in the engine (`trainer_core/planning/attained.py`), and the lengths that the",
        "recipe reckons with.",
        "",
        "The last columns are the same spec on a tiny policy of the same architecture, two steps through the whole",
        f"loop on two CPU cores: completions of at most {TOKENS} tokens, every other length by the same factor,",
        f"{PROMPTS} prompts of {GROUP} samples at most, one engine, one rank; everything else is as it stands",
        "(`scaled` in `tests/bench/published.py`). To each reward a small part is added that tells answers apart,",
        "since a random policy solves nothing.",
        "",
        "| recipe | model | machine | learner | engine | room | step | tiny run | difference of engine and learner |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for recipe in list_published():
        own, found, seen = needs(recipe), estimate(recipe), outcomes.get(recipe.name)
        cells = [
            f"`{recipe.name}`",
            own.model,
            own.machine,
            *(f"{gib:.1f} GiB" for gib in (found.learner_gib, found.engine_gib, found.room_gib)),
            _duration(found.step_seconds),
            "not run" if seen is None else f"{seen.state}, {seen.steps} steps in {seen.seconds:.0f} s",
            "" if seen is None else f"{seen.mismatch:.3f} nats",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    (ROOT / "docs" / "benchmarks-published.md").write_text("\n".join(lines) + "\n")


def _duration(seconds: float) -> str:
    return (
        f"{seconds:.0f} s"
        if seconds < 120
        else f"{seconds / 60:.0f} min"
        if seconds < 7200
        else f"{seconds / 3600:.1f} h"
    )
