"""``python -m tests.bench.recipes``: the learning curve of every recipe on the demo's task, a few seeds each.

A run that is done is kept (in ``--cache``, by recipe as it is written, and seed), so a second call goes on where the
first was ended; then docs/benchmarks-recipes.md is written from all that is there. ``… published`` runs the recipes at
published size on tiny policies instead, and writes docs/benchmarks-published.md.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.installation import ROOT
from tests.support.ray_alone import ray_alone
from tests.worker.loop.platform_double import PlatformDouble
from trainer_core.spec.recipes import Recipe, list_recipes

if TYPE_CHECKING:
    from tests.support.warm_loop import WarmLoop

SEEDS = 3
STEPS = 40
EVERY = 5
"""Steps between two evaluations."""
HELD_OUT = 192
SOURCES = {"add_sub": "gsm8k-add-sub@1"}
"""What is trained on: of the demo's mixture, the part that its small policy can learn."""
KEPT = (
    "critic/score/mean",
    "train/pass_rate/add_sub",
    "response_length/mean",
    "thinking/share_thinking",
    "groups/zero_advantage_share",
    "actor/grad_norm",
    "actor/lr",
    "staleness/mean",
    "rollouts/rejected",
    "timing_s/step",
)
"""Metrics of each step that a curve keeps."""


@dataclass(frozen=True)
class Curve:
    """What one run has shown."""

    recipe: str
    seed: int
    steps: list[dict[str, float]]
    """Metrics of each step."""
    held_out: dict[int, float]
    """Share of right answers to held-out problems, by the steps learned so far."""
    held_out_length: dict[int, float]


def main() -> None:
    """Measure what is missing, then write the page."""
    from tests.bench import published
    from tests.bench.recipes_page import write

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("set", nargs="?", choices=("small", "published"), default="small", help="which recipes")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--recipes", nargs="*", default=[], help="names; all of them where none is given")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "dressage" / "bench-recipes")
    given = parser.parse_args()
    if given.set == "published":
        published.main()
        return
    chosen = [recipe for recipe in list_recipes() if not given.recipes or recipe.name in given.recipes]
    # Seed by seed: a measurement that is ended early has all recipes, with fewer seeds.
    wanted = [(recipe, seed) for seed in range(given.seeds) for recipe in chosen]
    missing = [(recipe, seed) for recipe, seed in wanted if read(given.cache, recipe, seed) is None]
    try:
        if missing:
            with bench() as (loop, policy):
                for recipe, seed in missing:
                    measure(loop, policy, given.cache, recipe, seed)
    finally:  # ended early, the page tells what there is
        write([found for recipe, seed in wanted if (found := read(given.cache, recipe, seed)) is not None])


@contextmanager
def bench() -> Iterator[tuple[WarmLoop, Path]]:
    """A Ray of its own with a warm loop, and the starter policy under the name by which recipes call it."""
    with ray_alone(), tempfile.TemporaryDirectory(prefix="dressage-recipes-") as folder:
        from tests.support.warm_loop import WarmLoop

        with WarmLoop(Path(folder)) as loop:
            policy = Path(folder) / "starter"
            policy.symlink_to(ROOT / "demo" / "starter-policy")
            yield loop, policy


def measure(loop: WarmLoop, policy: Path, cache: Path, recipe: Recipe, seed: int) -> Curve:
    """Train one recipe with one seed, and keep its curve."""
    from tests.support.warm_loop import demo_bundle

    began, platform = time.monotonic(), PlatformDouble()
    try:
        loop.run(platform, demo_bundle(platform, document(recipe, seed), policy, _data()))
    finally:
        platform.close()
    if platform.states()[-1] != "succeeded":
        raise RuntimeError(f"{recipe.name}, seed {seed}: {platform.of('state')[-1]['data']}")
    every = [event["data"]["metrics"] for event in platform.of("step")]
    tests = {event["step"]: event["data"]["metrics"] for event in platform.of("eval")}
    curve = Curve(
        recipe.name,
        seed,
        [{name: m[name] for name in KEPT if name in m} for m in every],
        {step: m["eval/add_sub/pass_rate"] for step, m in tests.items()},
        {step: m["eval/add_sub/response_length/mean"] for step, m in tests.items()},
    )
    file = place(cache, recipe, seed)
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    part.write_text(json.dumps(asdict(curve)))
    part.rename(file)
    shown = " ".join(f"{value:.2f}" for value in curve.held_out.values())
    print(f"{recipe.name:14} seed {seed}: {shown}  ({time.monotonic() - began:.0f} s)", flush=True)
    return curve


def read(cache: Path, recipe: Recipe, seed: int) -> Curve | None:
    """The curve that an earlier call has kept; of a longer one, its beginning."""
    file = place(cache, recipe, seed)
    found = json.loads(file.read_text()) if file.exists() else {"steps": []}
    if len(found["steps"]) < STEPS:
        return None
    for name in ("held_out", "held_out_length"):
        found[name] = {int(step): value for step, value in found[name].items() if int(step) <= STEPS}
    return Curve(**{**found, "steps": found["steps"][:STEPS]})


def place(cache: Path, recipe: Recipe, seed: int) -> Path:
    """Where the curve of the recipe as it is written lies, however long it is: of another recipe it is another file."""
    text = json.dumps([recipe.spec, SOURCES, EVERY, HELD_OUT], sort_keys=True)
    return cache / f"{recipe.name}-{seed}-{hashlib.sha256(text.encode()).hexdigest()[:12]}.json"


def document(recipe: Recipe, seed: int) -> dict[str, Any]:
    """The recipe's spec with the bench's task, length and seed; all else is the recipe's own."""
    spec = recipe.run_spec().model_dump(mode="json")
    spec["data"]["sources"] = [{"name": name, "dataset": dataset} for name, dataset in SOURCES.items()]
    spec["schedule"] |= {"steps": STEPS, "seed": seed}
    spec["evaluation"] |= {
        "every_steps": EVERY,
        "max_prompts": HELD_OUT,
        "sources": [{"name": "add_sub", "dataset": "gsm8k-eval@1"}],
    }
    spec["checkpoint"] |= {"every_steps": STEPS}
    return spec


def _data() -> dict[str, list[dict[str, Any]]]:
    names = ("gsm8k-add-sub", "gsm8k-eval")
    files = {name: ROOT / "demo" / "data" / f"{name}.jsonl" for name in names}
    return {f"{name}@1": [json.loads(line) for line in file.read_text().splitlines()] for name, file in files.items()}


if __name__ == "__main__":
    main()
