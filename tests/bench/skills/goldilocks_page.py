"""The section on goldilocks filtering in docs/benchmarks-skills.md."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from statistics import mean
from typing import Any

from tests.bench.skills.goldilocks import BEGINNINGS, HIGH, LOW, SAMPLES, SEEDS, Beginning, Rows, kept, key, profile_key
from tests.bench.skills.settings import GROUP, ON_POLICY

_WORDS = f"""The same run ({ON_POLICY.name}, {ON_POLICY.steps} steps) on all rows, and on the version that a difficulty
profile by the policy at its beginning makes of them: pass rates from {LOW} to {HIGH}, no suspects, {SAMPLES} samples a
row on average, allocated as a profile of the platform does. **Dead** is the share of dead groups of {GROUP} that the
profile predicts for all rows. **Target** is what the run on all rows shows at its end (held out, mean of the seeds);
**share** is how much of its sampled tokens the run on the version takes to get there, with that of each seed. The
profile's own tokens are beside it: they are spent once, for all runs on the version.

A filter saves what dead groups waste, and nothing where there are few: hardly any of the task's own rows is dead at the
beginning. Most are after a first run, and where two of three rows are out of the policy's reach (sums of 9 and 12
digits, digits to sort by seven to nine), as they are for a small policy in most public sets."""


def section(folder: Path, seeds: int = SEEDS) -> list[str]:
    """Its lines; none where nothing was measured."""
    rows = [line for beginning in BEGINNINGS for line in _row(folder, beginning, seeds)]
    if not rows:
        return []
    return [
        "## A version that a profile makes",
        "",
        _WORDS,
        "",
        "| beginning | rows | dead | kept | target | tokens, all rows | share | profile's tokens | "
        "wrong golds found | right golds accused |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
        *rows,
        "",
    ]


def _row(folder: Path, beginning: Beginning, seeds: int) -> list[str]:
    report = kept(folder).get(profile_key(beginning))
    whole, filtered = (_courses(folder, beginning, rows, seeds) for rows in ("all", "kept"))
    if report is None or not whole or not filtered:
        return []
    target = mean(shares(course)[-1] for course in whole)
    spent = mean(sum(course["tokens"]) for course in whole)
    each = [tokens_to(target, [course]) for course in filtered]
    together = tokens_to(target, filtered)
    accused = report["suspects"] - report["suspects_wrong"]
    cells = [
        beginning.name,
        f"{report['rows']:,}",
        f"{report['dead_all']:.0%}",
        f"{report['kept']:,}",
        f"{target:.3f}",
        f"{spent:,.0f}",
        f"**{_share(together, spent)}** ({', '.join(_share(one, spent) for one in each)})",
        f"{report['tokens']:,}",
        f"{report['suspects_wrong']} of {report['wrong']}",
        f"{accused} of {report['rows'] - report['wrong']:,}",
    ]
    return [f"| {' | '.join(cells)} |"]


def shares(course: dict[str, Any]) -> list[float]:
    """Held-out shares of right answers, evaluation by evaluation."""
    return [mean(found["right"].values()) for found in course["evaluations"].values()]


def tokens_to(target: float, courses: Sequence[dict[str, Any]]) -> float | None:
    """Sampled tokens at which the courses' mean first reaches the target, between evaluations by a straight line.

    Returns:
        None where it is never reached.
    """
    steps = [int(step) for step in courses[0]["evaluations"]]
    spent = [mean([0, *accumulate(course["tokens"])][step] for course in courses) for step in steps]
    means = [mean(at) for at in zip(*map(shares, courses), strict=True)]
    for (tokens, share), (next_tokens, next_share) in pairwise(zip(spent, means, strict=True)):
        if next_share >= target:
            return tokens + (next_tokens - tokens) * max(0.0, target - share) / (next_share - share)
    return None


def _courses(folder: Path, beginning: Beginning, rows: Rows, seeds: int) -> list[dict[str, Any]]:
    found = (kept(folder).get(key(beginning, rows, seed)) for seed in range(seeds))
    return [course for course in found if course is not None]


def _share(tokens: float | None, spent: float) -> str:
    return "not reached" if tokens is None else f"{tokens / spent:.2f}"
