"""``python -m tests.bench.recipes``: the learning curve of every recipe on two tasks, and of broken methods.

A run that is done is kept in ``tests/bench/measurements``, by recipe as it is written and seed, so a second call goes
on where the first was ended, on this machine or another; then docs/benchmarks-recipes.md (the demo's task) and
docs/benchmarks-skills.md (skills that have to grow) are written from all that is there. One part alone: ``… demo``,
``… skills``, ``… broken`` and ``… goldilocks``. ``… published`` runs the recipes at published size on tiny policies
instead, and writes docs/benchmarks-published.md.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

from tests.bench.kept import FOLDER, Kept, key_of
from tests.bench.tasks import DEMO, SKILLS, TASKS, Task
from tests.support.ray_alone import ray_alone
from tests.worker.loop.platform_double import PlatformDouble
from trainer_core.spec.recipes import Recipe, list_recipes

if TYPE_CHECKING:
    from tests.support.warm_loop import WarmLoop

SEEDS = 3
STEPS = 40
METRICS = ("critic/score/mean", "response_length/mean", "groups/zero_advantage_share", "staleness/mean")
"""Metrics of each step that a curve keeps."""


@dataclass(frozen=True)
class Curve:
    """What one run has shown."""

    recipe: str
    seed: int
    metrics: dict[str, list[float | None]]
    """Values of each step by metric; None where a step has told none."""
    held_out: dict[int, float]
    """Share of right answers to held-out problems, by the steps learned so far."""
    held_out_length: dict[int, float]
    held_out_by_source: dict[str, dict[int, float]] = field(default_factory=dict)


def main() -> None:
    """Measure what is missing, then write the pages."""
    from tests.bench import published, recipes_page
    from tests.bench.skills import broken, goldilocks, page

    parser = argparse.ArgumentParser(description=__doc__)
    sets = (*TASKS, "broken", "goldilocks", "published", "pages")
    parser.add_argument("set", nargs="?", choices=sets, help="one part; all but published without it")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--recipes", nargs="*", default=[], help="names; all of them where none is given")
    parser.add_argument("--kept", type=Path, default=FOLDER, help="folder of what was measured")
    given = parser.parse_args()
    if given.set == "published":
        published.main()
        return
    chosen = [recipe for recipe in list_recipes() if not given.recipes or recipe.name in given.recipes]
    try:
        if given.set in (None, "broken"):
            broken.measure_all(given.kept, given.seeds)
        if given.set in (None, "goldilocks"):
            goldilocks.measure_all(given.kept, given.seeds)
        for task in [task for name, task in TASKS.items() if given.set in (None, name)]:
            # Seed by seed: a measurement that is ended early has all recipes, with fewer seeds.
            wanted = [(recipe, seed) for seed in range(given.seeds) for recipe in chosen]
            missing = [(recipe, seed) for recipe, seed in wanted if read(given.kept, recipe, seed, task) is None]
            if missing:
                with bench(task) as (loop, policy):
                    for recipe, seed in missing:
                        measure(loop, policy, given.kept, recipe, seed, task)
    finally:  # ended early, the pages tell what there is
        if given.set in (None, "demo"):
            recipes_page.write(kept(given.kept, given.seeds, DEMO))
        if given.set != "demo":
            page.write(kept(given.kept, given.seeds, SKILLS), given.kept, given.seeds)


def kept(folder: Path, seeds: int, task: Task) -> list[Curve]:
    """The curves that there are."""
    wanted = [(recipe, seed) for seed in range(seeds) for recipe in list_recipes()]
    return [found for recipe, seed in wanted if (found := read(folder, recipe, seed, task)) is not None]


@contextmanager
def bench(task: Task = DEMO) -> Iterator[tuple[WarmLoop, Path]]:
    """A Ray of its own with a warm loop, and the task's policy under the name by which recipes call it."""
    with ray_alone(), tempfile.TemporaryDirectory(prefix="dressage-recipes-") as folder:
        from tests.support.warm_loop import WarmLoop

        with WarmLoop(Path(folder)) as loop:
            policy = Path(folder) / "starter"
            policy.symlink_to(task.policy)
            yield loop, policy


def measure(loop: WarmLoop, policy: Path, folder: Path, recipe: Recipe, seed: int, task: Task = DEMO) -> Curve:
    """Train one recipe with one seed, and keep its curve."""
    from tests.support.warm_loop import REWARDS, demo_bundle

    began, platform = time.monotonic(), PlatformDouble()
    try:
        loop.run(
            platform, demo_bundle(platform, document(recipe, seed, task), policy, task.rows(), task.rewards or REWARDS)
        )
    finally:
        platform.close()
    if platform.states()[-1] != "succeeded":
        raise RuntimeError(f"{recipe.name}, seed {seed}: {platform.of('state')[-1]['data']}")
    every = [event["data"]["metrics"] for event in platform.of("step")]
    tests = {event["step"]: event["data"]["metrics"] for event in platform.of("eval")}
    by_source = {
        source: {step: found[f"eval/{source}/pass_rate"] for step, found in tests.items()} for source in task.held_out
    }
    lengths = [f"eval/{source}/response_length/mean" for source in task.held_out]
    curve = Curve(
        recipe.name,
        seed,
        {name: [metrics.get(name) for metrics in every] for name in METRICS},
        {step: mean(rates[step] for rates in by_source.values()) for step in tests},
        {step: mean(found[name] for name in lengths) for step, found in tests.items()},
        by_source,
    )
    found = {name: value for name, value in asdict(curve).items() if name not in ("recipe", "seed")}
    _file(folder, task).put(_key(recipe, seed, task), found)
    shown = " ".join(f"{value:.2f}" for value in curve.held_out.values())
    print(f"{recipe.name:14} seed {seed}: {shown}  ({time.monotonic() - began:.0f} s)", flush=True)
    return curve


def read(folder: Path, recipe: Recipe, seed: int, task: Task = DEMO) -> Curve | None:
    """The curve that an earlier call has kept; of a longer one, its beginning."""
    found = _file(folder, task).get(_key(recipe, seed, task))
    if found is None or len(found["metrics"][METRICS[0]]) < STEPS:
        return None
    for name in ("held_out", "held_out_length"):
        found[name] = _until_the_end(found[name])
    by_source = {name: _until_the_end(rates) for name, rates in found["held_out_by_source"].items()}
    metrics = {name: values[:STEPS] for name, values in found["metrics"].items()}
    return Curve(recipe.name, seed, **{**found, "metrics": metrics, "held_out_by_source": by_source})


def _until_the_end(values: dict[str, float]) -> dict[int, float]:
    return {int(step): value for step, value in values.items() if int(step) <= STEPS}


def _file(folder: Path, task: Task) -> Kept:
    return Kept(folder / f"{task.name}.jsonl")


def _key(recipe: Recipe, seed: int, task: Task) -> str:
    """The key of a recipe as it is written, however long its run is."""
    return key_of(recipe.name, seed, [recipe.spec, *task.identity()])


def document(recipe: Recipe, seed: int, task: Task = DEMO) -> dict[str, Any]:
    """The recipe's spec with the bench's task, length and seed; all else is the recipe's own."""
    return task.change(recipe.run_spec().model_dump(mode="json"), STEPS, seed)


if __name__ == "__main__":
    main()
