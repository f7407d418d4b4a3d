"""Writes docs/benchmarks-recipes.md and its picture from the curves that ``tests.bench.recipes`` has measured."""

from collections.abc import Sequence
from math import inf
from statistics import mean

from tests.bench import earlier
from tests.bench.recipes import STEPS, Curve
from tests.bench.recipes_picture import picture
from tests.bench.tasks import DEMO
from tests.support.installation import ROOT
from trainer_core.spec.recipes import Recipe, list_recipes

LEVEL = 0.8
LAST = 5
"""Steps at the end that the training columns are the mean of."""
REASONS = {
    "l1": "its prompts name a length, which this policy has never been told: it learns to meet it, and answers worse",
    "vapo": "for the first 20 steps the critic learns alone",
}
"""Why a recipe is slower here, where that is known."""
PAGE = ROOT / "docs" / "benchmarks-recipes.md"
PICTURE = ROOT / "docs" / "images" / "recipes.svg"
BARS = "▁▂▃▄▅▆▇█"
INTRODUCTION = f"""# Recipes on the demo's task

`make bench-recipes` trains every recipe through the whole loop (engine, rewards, learner, weight updates) and writes
this page. It can be ended and called again: runs that are done are kept. This task moves one bit; a second one, on
which skill has to grow, tells recipes and broken methods apart: [benchmarks-skills.md](benchmarks-skills.md).

The task is the demo's additions and subtractions, from the starter policy (0.6 M parameters), which begins by blurting
its answers and learns that thinking pays. Each recipe is as it is shipped: mode, advantage, loss, corrections, filters,
lengths, curriculum, and the learning rate and batch of 256 samples that fit so small a policy (each file says what was
published). Changed are, for all alike:
- data: additions and subtractions alone; multiplications and divisions are beyond this policy;
- {STEPS} steps and the seed; all that a recipe counts in steps (warm-ups, cycles, stages) keeps its length;
- evaluation: {DEMO.prompts} held-out problems every {DEMO.every} steps, one sample each at temperature 1, without a
  budget.

**Held out** is the share of right answers. It compares recipes where the training reward does not: dynamic sampling
and curricula drop what is mastered, and penalties on length count in the reward. Its standard error is 0.04 at 0.5 and
0.02 at 0.9. **Start** is the same before the first step. **To {LEVEL}** is the first evaluation at or above {LEVEL},
seed by seed, in steps. **Reward** is the mean of the last {LAST} steps' training rewards, **length** that of their
completions in tokens. The curve is held out, 0 to 1.
"""


def write(curves: Sequence[Curve]) -> None:
    """Page and picture of all that has been measured."""
    measured = [(r, found) for r in list_recipes() if (found := [c for c in curves if c.recipe == r.name])]
    header = f"| recipe | mode | updates × learning rate | to {LEVEL} | start | held out | reward | length | curve |"
    fresh = {recipe.name: _row(recipe, found) for recipe, found in measured}
    carried = [name for name in earlier.rows(PAGE, header) if name not in fresh]
    lines = [
        INTRODUCTION,
        header,
        "|---|---|---|---|---:|---:|---:|---:|---|",
        *earlier.merged(PAGE, header, fresh, [recipe.name for recipe in list_recipes()]),
        "",
        *([earlier.NOTE, ""] if carried else []),
        "![Held-out share of right answers by step, one line per seed](images/recipes.svg)",
        "",
    ]
    missed = [r.name for r, found in measured if any(steps_to(c, LEVEL) == inf for c in found)]
    missed += [name for name in carried if name in REASONS]
    if missed:
        lines += [f"Not at {LEVEL} within {STEPS} steps with every seed:", *map(_reason, missed), ""]
    absent = [recipe.name for recipe in list_recipes() if recipe.name not in fresh and recipe.name not in carried]
    if absent:
        lines += [f"Not measured yet: {', '.join(absent)}.", ""]
    PAGE.write_text("\n".join(lines))
    if not carried:  # a picture of some recipes would drop the curves of the others
        PICTURE.write_text(picture({recipe.name: found for recipe, found in measured}, LEVEL, STEPS))


def steps_to(curve: Curve, level: float) -> float:
    """Steps learned at the first evaluation at or above ``level``; infinity if there is none."""
    return min((step for step, share in curve.held_out.items() if share >= level), default=inf)


def _reason(name: str) -> str:
    return f"- {name}: {REASONS[name]}" if name in REASONS else f"- {name}"


def _row(recipe: Recipe, curves: Sequence[Curve]) -> str:
    spec = recipe.run_spec()
    mode = spec.rollout.mode.type + (f" η = {spec.rollout.max_staleness}" if spec.rollout.max_staleness else "")
    reached = ", ".join("–" if (steps := steps_to(c, LEVEL)) == inf else f"{steps:.0f}" for c in curves)
    ends = [c.held_out[STEPS] for c in curves]
    spread = f" ({min(ends):.2f}–{max(ends):.2f})" if len(ends) > 1 else ""
    cells = [
        recipe.name,
        mode,
        f"{spec.schedule.updates} × {spec.optimizer.learning_rate:g}",
        reached,
        f"{mean(c.held_out[0] for c in curves):.2f}",
        f"{mean(ends):.2f}{spread}",
        f"{last(curves, 'critic/score/mean'):.2f}",
        f"{last(curves, 'response_length/mean'):.1f}",
        f"`{_bars(curves)}`",
    ]
    return f"| {' | '.join(cells)} |"


def last(curves: Sequence[Curve], name: str) -> float:
    """Mean of a metric over the last steps."""
    return mean(value for curve in curves for value in curve.metrics[name][-LAST:] if value is not None)


def _bars(curves: Sequence[Curve]) -> str:
    shares = [mean(c.held_out[step] for c in curves) for step in sorted(curves[0].held_out)]
    return "".join(BARS[min(int(share * len(BARS)), len(BARS) - 1)] for share in shares)
