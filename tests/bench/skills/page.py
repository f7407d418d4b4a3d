"""Writes docs/benchmarks-skills.md from what ``tests.bench.recipes`` has measured on the second task."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, sqrt
from pathlib import Path
from statistics import mean, variance
from typing import TYPE_CHECKING, Any

from tests.bench import earlier
from tests.bench.skills import goldilocks_page
from tests.bench.skills.broken import SEEDS, Case, read
from tests.bench.skills.demonstrations import CARELESS
from tests.bench.skills.families import sources
from tests.bench.skills.faults import FAULTS, MILD, Fault
from tests.bench.skills.loop import AT_THE_END
from tests.bench.skills.policy import POLICY
from tests.bench.skills.rows import NOISE, ROWS, noisy_rows
from tests.bench.skills.settings import EPOCHS, GROUP, HACKING, LONGEST, ON_POLICY, PROMPTS
from tests.support.installation import ROOT

if TYPE_CHECKING:
    from tests.bench.recipes import Curve

PAGE = ROOT / "docs" / "benchmarks-skills.md"
LAST = 5
"""Steps at the end that the training columns are the mean of."""
VISIBLE = 0.03
"""A difference below this is not called one, however sure it is."""
QUANTILES = {2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 10: 2.228}
"""Student's t at 97.5 %, by degrees of freedom."""
BARS = "▁▂▃▄▅▆▇█"

INTRODUCTION = f"""# Recipes and broken methods on skills that have to grow

`make bench-recipes` measures this and writes this page; runs that are done are kept in `tests/bench/measurements`, so
it can be ended and called again. The demo's task ([benchmarks-recipes.md](benchmarks-recipes.md)) moves one bit: its
policy answers rightly once it thinks. Here skill itself has to grow, and methods can be told apart.

**The task** (`tests/bench/skills`): three families of calculations at three levels of length, nine sub-skills, each a
source with its own pass rate. `sum` adds digits, `chain` calculates from left to right and keeps the last digit, `sort`
sorts digits. An answer may show its working, one word per step, and a slip in any step is carried on to the end.

**The policy** (0.46 million parameters; `python -m tests.bench.skills.policy` makes it in two minutes on one core, by
the project's own warm-up) has watched a worker who guesses, skips steps, works in full, or works twice; who slips in
{CARELESS.slips["sum"]:.0%} of the steps, and hedges ("12|13") in {CARELESS.hedges:.0%} of the answers. Thinking longer
pays in sums and chains; working twice does not fit into the {LONGEST} tokens of a completion where problems are long.

**The labels**: {NOISE:.0%} of the training rows have a wrong answer, one slip away from the right one. Which they are
is listed (`rows.noisy_rows`: {{noisy}} of {{rows}}), so that a search for suspect labels can be measured. Held-out rows
are right.

**The reward** is 1 for exactly the right answer. A flawed one, which pays an answer that only contains it, is measured
below.
"""
_BROKEN = f"""Each is put into the bench's own process, and compared with its correct base: the same policy, prompts and
number of steps ({ON_POLICY.steps}, or {EPOCHS.steps} of sixteen updates), each of {PROMPTS} prompts × {GROUP} samples.
The learner, the advantages and the rewards are the product's; a sampler in the same process stands for the rollout
engine, so that nothing but the fault differs. Shares are of right answers to held-out problems after the last step
({AT_THE_END} of each sub-skill, one sample each). **Told apart**: the 95 % interval of the difference (Student's, over
seeds) lies above 0, and the difference is at least {VISIBLE}."""
_TABLE = (
    "| broken | what is wrong | base | correct | broken | difference | told apart |",
    "|---|---|---|---:|---:|---:|---|",
)
_MILD = """Where advantages are negative too, going on where an answer should end is unlearned by what follows, and the
end itself need not be learned; where the policy moves slowly, eight versions are no distance; and where the reward is
strict, being driven away from a base that slips in every twentieth step is no loss."""
_HACKED = """The flawed reward pays 1 where an answer contains the right one, and 0.3 where it names several candidates:
hedging is always paid. **Reward** is the mean over the first and the last five steps; **right** is held out and strict,
in the middle of the run and at its end; **contained** is the share of answers that hold the right one without being it,
**hedged** that of answers that name several candidates."""
_RECIPES = f"""Through the whole loop (rollout engine, rewards, learner, weight updates), each recipe as it is shipped
but for the data, completions of {LONGEST} tokens, and the number of steps. **Right** is the share of right answers to
24 held-out problems of each sub-skill after the last step, with the range over seeds; **reward** and **length** are
means of the last five steps. The curve is the share of right answers, 0 to 1."""


@dataclass(frozen=True)
class Verdict:
    """A broken method beside its base."""

    base: float
    broken: float
    difference: float
    half_width: float
    """Half of the 95 % interval of the difference; infinite with one seed."""

    @property
    def known(self) -> bool:
        """Whether there are seeds enough for an interval."""
        return self.half_width < inf

    @property
    def told_apart(self) -> bool:
        """Whether the broken one is surely and visibly lower."""
        return self.difference - self.half_width > 0 and self.difference >= VISIBLE


def judge(base: Sequence[float], broken: Sequence[float]) -> Verdict:
    """Base less broken, with Student's interval for two samples of equal variance.

    Args:
        base: final share of right answers, one per seed.
        broken: the same of the broken method.
    """
    freedom = len(base) + len(broken) - 2
    half = inf
    if freedom in QUANTILES and min(len(base), len(broken)) > 1:
        pooled = ((len(base) - 1) * variance(base) + (len(broken) - 1) * variance(broken)) / freedom
        half = QUANTILES[freedom] * sqrt(pooled * (1 / len(base) + 1 / len(broken)))
    return Verdict(mean(base), mean(broken), mean(base) - mean(broken), half)


def write(curves: Sequence[Curve], folder: Path, seeds: int = SEEDS) -> None:
    """The page, from the recipes' curves and the courses in ``folder``."""
    noisy = sum(len(noisy_rows(source)) for source in sources())
    lines = [
        INTRODUCTION.format(noisy=noisy, rows=ROWS * len(sources())),
        *_policy(),
        *_broken(folder, seeds),
        *_hacked(folder, seeds),
        *goldilocks_page.section(folder),
        *_recipes(curves),
    ]
    PAGE.write_text("\n".join(lines))


def _policy() -> list[str]:
    measured = json.loads((POLICY / "warmup.json").read_text())["measured"]
    return [
        "| before the first step | " + " | ".join(sources()) + " |",
        "|---|" + "---:|" * len(sources()),
        *(
            f"| {words} | " + " | ".join(f"{measured[source][key]:.2f}" for source in sources()) + " |"
            for words, key in (("right", "right"), ("… with working", "thinking"), ("… at once", "guessing"))
        ),
        "",
    ]


def _final(course: dict[str, Any], source: str = "") -> float:
    rates = course["evaluations"][max(course["evaluations"], key=int)]["right"]
    return rates[source] if source else mean(rates.values())


def _broken(folder: Path, seeds: int) -> list[str]:
    rows, told, judged, missing = _judged(FAULTS, folder, seeds)
    mild, mild_told, mild_judged, mild_missing = _judged(MILD, folder, seeds, 1)
    missing += [f"{name} (hidden)" for name in mild_missing]
    return [
        "## Broken methods",
        "",
        _BROKEN,
        "",
        f"**The bench tells {told} of {judged} broken methods apart**{_early(_with_one_seed(rows))}.",
        "",
        *_TABLE,
        *rows,
        "",
        "A fault does not show in every run. In gentler settings the bench tells "
        f"{mild_told} of {mild_judged} apart{_early(_with_one_seed(mild))}:",
        "",
        *_TABLE,
        *mild,
        "",
        *explain_hidden(len(MILD), mild_judged, mild_told),
        *([f"Not measured yet: {', '.join(missing)}.", ""] if missing else []),
    ]


def explain_hidden(faults: int, judged: int, told: int) -> list[str]:
    """Lines that say why gentler settings hide faults; none unless it is measured that they hide all of them.

    Args:
        faults: their number.
        judged: how many have seeds enough.
        told: how many are told apart.
    """
    return [_MILD, ""] if judged == faults and not told else []


def _judged(faults: Sequence[Fault], folder: Path, seeds: int, table: int = 0) -> tuple[list[str], int, int, list[str]]:
    """Rows of those that are measured, how many are told apart, of how many with seeds enough, and who is missing."""
    fresh: dict[str, str] = {}
    told, judged, missing = 0, 0, []
    before = earlier.rows(PAGE, _TABLE[0], table)
    for fault in faults:
        base, broken = (read(folder, case, seeds) for case in (Case(fault.base), Case(fault.base, fault)))
        if not base or not broken:
            missing += [fault.name] if fault.name not in before else []
            continue
        verdict = judge(*([_final(course, fault.judged_by) for course in courses] for courses in (base, broken)))
        told, judged = told + verdict.told_apart, judged + verdict.known
        fresh[fault.name] = _row(fault, verdict, len(broken))
    carried = [before[fault.name] for fault in faults if fault.name not in fresh and fault.name in before]
    return [*fresh.values(), *carried], told, judged, missing


def _with_one_seed(rows: Sequence[str]) -> int:
    return sum(row.endswith("| too few seeds |") for row in rows)


def _early(count: int) -> str:
    return f" ({count} more have one seed so far, which tells nothing)" if count else ""


def _row(fault: Fault, verdict: Verdict, runs: int) -> str:
    words = fault.words + (f" (judged by {fault.judged_by})" if fault.judged_by else "")
    width = f" ± {verdict.half_width:.3f} ({runs} seeds)" if verdict.known else " (one seed)"
    cells = [
        fault.name,
        words,
        fault.base.name,
        f"{verdict.base:.3f}",
        f"{verdict.broken:.3f}",
        f"{verdict.difference:.3f}{width}",
        "yes" if verdict.told_apart else "**no**" if verdict.known else "too few seeds",
    ]
    return f"| {' | '.join(cells)} |"


def _hacked(folder: Path, seeds: int) -> list[str]:
    header = "| setting | reward, first | reward, last | right, middle | right, end | contained | hedged | length |"
    fresh: dict[str, str] = {}
    for setting in HACKING:
        courses = read(folder, Case(setting), seeds)
        if not courses:
            continue
        ends = [course["evaluations"][str(setting.steps)] for course in courses]
        middles = [course["evaluations"][str(setting.steps // 2)]["right"] for course in courses]
        cells = [
            setting.name,
            f"{mean(mean(course['rewards'][:LAST]) for course in courses):.2f}",
            f"{mean(mean(course['rewards'][-LAST:]) for course in courses):.2f}",
            f"{mean(mean(right.values()) for right in middles):.2f}",
            f"{mean(_final(course) for course in courses):.2f}",
            f"{mean(end['contained'] for end in ends):.2f}",
            f"{mean(end['hedged'] for end in ends):.2f}",
            f"{mean(end['length'] for end in ends):.1f}",
        ]
        fresh[setting.name] = f"| {' | '.join(cells)} |"
    return [
        "## A reward that can be hacked",
        "",
        _HACKED,
        "",
        header,
        "|---|---:|---:|---:|---:|---:|---:|---:|",
        *earlier.merged(PAGE, header, fresh, [setting.name for setting in HACKING]),
        "",
    ]


def _recipes(curves: Sequence[Curve]) -> list[str]:
    from tests.bench.recipes import STEPS
    from tests.bench.recipes_page import last
    from trainer_core.spec.recipes import list_recipes

    measured = [(r, found) for r in list_recipes() if (found := [c for c in curves if c.recipe == r.name])]
    header = "| recipe | seeds | start | right | reward | length | curve | " + " | ".join(sources()) + " |"
    before = earlier.rows(PAGE, header)
    fresh: dict[str, str] = {}
    lines = ["## Recipes", "", _RECIPES, "", header, "|---|---:|---:|---:|---:|---:|---|" + "---:|" * len(sources())]
    for recipe, found in measured:
        ends = [curve.held_out[STEPS] for curve in found]
        spread = f" ({min(ends):.2f}–{max(ends):.2f})" if len(ends) > 1 else ""
        shares = [mean(curve.held_out[step] for curve in found) for step in sorted(found[0].held_out)]
        cells = [
            recipe.name,
            str(len(found)),
            f"{mean(curve.held_out[0] for curve in found):.2f}",
            f"{mean(ends):.2f}{spread}",
            f"{last(found, 'critic/score/mean'):.2f}",
            f"{last(found, 'response_length/mean'):.1f}",
            "`" + "".join(BARS[min(int(share * len(BARS)), len(BARS) - 1)] for share in shares) + "`",
            *(f"{mean(curve.held_out_by_source[source][STEPS] for curve in found):.2f}" for source in sources()),
        ]
        fresh[recipe.name] = f"| {' | '.join(cells)} |"
    names = [recipe.name for recipe in list_recipes()]
    lines += [*earlier.merged(PAGE, header, fresh, names), ""]
    if set(before) - set(fresh):
        lines += [earlier.NOTE, ""]
    absent = [name for name in names if name not in fresh and name not in before]
    if absent:
        how = "`python -m tests.bench.recipes skills --recipes NAME …` measures more."
        lines += [f"Not measured yet: {', '.join(absent)}. {how}", ""]
    return lines
