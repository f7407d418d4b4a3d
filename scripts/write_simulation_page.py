"""Writes docs/simulation.md: the simulated clusters beside what others have published, sizes and costs, and the load
that 4,096 GPUs put on the platform. The simulated systems stand in docs/benchmarks.md too, in short, between two marks.

``--sizes`` prints the table of sizes and costs alone, ``--fit`` the constants that the fit would choose; ``--check``
only tells whether both pages are up to date.
"""

import argparse
import math
import sys
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from pydantic import TypeAdapter

from trainer_core.link.limits import MAX_TEXT
from trainer_core.planning.cluster import SCALES, SIZES, ClusterEstimate, Scale, estimate
from trainer_core.planning.cluster.demands import Demand, Reporting, demand
from trainer_core.planning.cluster.estimate import batch_of, best_setting
from trainer_core.planning.cluster.published import CLAIMS, Claim
from trainer_core.planning.cluster.published.fit import CONSTANTS, distance, fit
from trainer_core.planning.cluster.rates import FITTED
from trainer_core.planning.cluster.simulate import simulate_cluster
from trainer_core.planning.lengths import Lengths
from trainer_core.planning.models import MODELS
from trainer_core.spec import RunSpec
from trainer_core.spec.recipes import Published, Recipe, list_published

DOCS = Path(__file__).resolve().parents[1] / "docs"
OUT, BENCHMARKS = DOCS / "simulation.md", DOCS / "benchmarks.md"
BEGIN, END = (
    "<!-- simulated systems, written by scripts/write_simulation_page.py -->",
    "<!-- end of simulated systems -->",
)
GPU, PRICE = "H100", 2.5
"""Kind of GPU of the table of sizes, and a price of one for an hour. Prices differ: take your own."""
POLICIES = {
    "8B": Scale.from_size(MODELS["Qwen/Qwen3-8B"]),
    "32B": SCALES["Qwen3-32B"],
    "235B, 22B active": SCALES["Qwen3-235B-A22B"],
}
WHOLE = 4096
SPLITS = (8, 64, 512, 4096)
"""GPUs of one run, of whose kind so many go on at once that they fill 4,096."""
HEADER = """# Clusters on paper

Written by `python scripts/write_simulation_page.py` from the code; do not edit. Everything here is **computed**:
nothing of it was measured by us. `trainer_core/planning/cluster` takes nodes and links at the makers' figures, and
shares of them that software attains, and drives with them the simulator that the planner has for one host
([planner.md](planner.md)): sequences with a tail of lengths, modes with their bound of staleness, the pause for new
weights. Around it come the way of the weights (a chain of hosts, point to point, a delta, the store), slow hosts, and
failures with checkpoints, event by event. The same seed gives the same run.

The console shows it beside the form of a new run, and `POST /api/v1/spec/plan/clusters` answers for any kind and number
of GPUs and any price.

What is not modelled: engines apart from their slowest (one stands for all), a network with bottlenecks, gradient
exchange behind the backward pass, evaluations, correlated lengths within a group, and what staleness does to learning.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page, or do what the options say."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only tell whether the pages are up to date")
    parser.add_argument("--sizes", action="store_true", help="print the table of sizes and costs")
    parser.add_argument("--price", type=float, default=PRICE, help="of one GPU for an hour, for --sizes")
    parser.add_argument("--fit", action="store_true", help="print the constants that the fit chooses")
    given = parser.parse_args(arguments)
    if given.fit:
        print(fit(CLAIMS))
    elif given.sizes:
        print(sizes_table(given.price), end="")
    elif given.check:
        return int(OUT.read_text() != page() or BENCHMARKS.read_text() != benchmarks_page(BENCHMARKS.read_text()))
    else:
        OUT.write_text(page())
        BENCHMARKS.write_text(benchmarks_page(BENCHMARKS.read_text()))
    return 0


def page() -> str:
    """The whole page."""
    return HEADER + _published() + _constants() + _sizes() + _demands()


def benchmarks_page(text: str) -> str:
    """``text`` with the simulated systems between its marks.

    Raises:
        ValueError: it has no such marks.
    """
    before, begun, rest = text.partition(BEGIN)
    _, ended, behind = rest.partition(END)
    if not begun or not ended:
        raise ValueError(f"{BENCHMARKS.name} has no place for the simulated systems: put {BEGIN} and {END} there")
    return f"{before}{BEGIN}\n\n{systems_table()}\n{END}{behind}"


def systems_table() -> str:
    """What was published and what is simulated, with the error, of the figures that judge the simulation."""
    fitted, judged = _halves()
    rows = ["| system | figure | published | simulated | error |", "|---|---|---:|---:|---:|"]
    rows += [
        f"| {claim.system} | {claim.figure} | {_figure(claim.published)} {claim.unit} | "
        f"{_figure(claim.simulated())} {claim.unit} | {claim.error():+.0%} |"
        for claim in judged
    ]
    worst = max(judged, key=lambda claim: abs(math.log(claim.simulated() / claim.published)))
    told = (
        f"Mean factor between simulated and published: {math.exp(distance(judged, FITTED)):.2f} over these "
        f"{len(judged)} figures, {math.exp(distance(fitted, FITTED)):.2f} over the {len(fitted)} that the constants "
        f"were fitted on. Farthest off: {worst.system}, {worst.figure}."
    )
    return textwrap.fill(told, 120) + "\n\n" + "\n".join(rows) + "\n"


# ── published systems ──


def _halves() -> tuple[list[Claim], list[Claim]]:
    """The figures that the constants were fitted on, and those that judge them."""
    fitted, judged = ([claim for claim in CLAIMS if claim.fitted is half] for half in (True, False))
    return fitted, judged


def _published() -> str:
    fitted, judged = _halves()
    return (
        "\n## Beside published systems\n\n"
        f"{len(CONSTANTS)} constants hold for all systems. They were fitted on the {len(fitted)} figures of the first "
        f"table (`--fit`), by the mean factor between simulated and published figures; the {len(judged)} of the second "
        "table judge them. *Range* is what the simulation says at both ends of what the publication leaves open.\n\n"
        f"Mean factor between simulated and published: fitted {math.exp(distance(fitted, FITTED)):.2f}, judged "
        f"{math.exp(distance(judged, FITTED)):.2f}.\n\n"
        f"### Fitted\n\n{_claims(fitted)}\n### Judged\n\n{_claims(judged)}\n{READING}"
    )


READING = """What the errors say:

- AReaL's and Laminar's speed-ups are taken over other systems, with what those lose in their own software; here both
  sides run on the same simulated software, which turns between generation and learning without loss beyond
  `turn_seconds`. What remains is what overlap and the tail of lengths explain by themselves.
- A policy of 1.5B is bound by its learner in the simulation: narrow matrices reach little of the peak, and a quarter of
  the GPUs learn. AReaL's learner must be faster than prime-rl's, on which the constant was fitted.
- Small mixtures (30B-A3B) and very large ones on many hosts (DeepSeek-V3) are slower in truth than here: their software
  costs more than the model's launches, sums and exchanges.
- checkpoint-engine's H800 figures are overestimated: taking weights out of what arrives goes faster there than on the
  H20 hosts that the constant was fitted on.
"""


def _claims(claims: Iterable[Claim]) -> str:
    rows = [
        "| system | figure | published | simulated | error | range | assumed |",
        "|---|---|---:|---:|---:|---:|---|",
    ]
    for claim in claims:
        low, high = claim.bounds()
        unknown = claim.unknown
        rows.append(
            f"| {claim.system} ({claim.source}) | {claim.figure} | {_figure(claim.published)} {claim.unit} | "
            f"{_figure(claim.simulated())} {claim.unit} | {claim.error():+.0%} | {_figure(low)}–{_figure(high)} | "
            f"{unknown.what}: {unknown.assumed:g} ({unknown.low:g}–{unknown.high:g}) |"
        )
    return "\n".join(rows) + "\n"


def _constants() -> str:
    values = {**asdict(FITTED), **{f"shares.{name}": value for name, value in asdict(FITTED.shares).items()}}
    del values["shares"]
    rows = ["\n## Constants\n\n| constant | value | |\n|---|---:|---|\n"]
    for name, value in values.items():
        rows.append(f"| `{name}` | {value:g} | {'fitted' if name in CONSTANTS else 'as it is usual'} |\n")
    rows.append("\nTheir meaning stands beside them in `trainer_core/planning/cluster/rates.py`.\n")
    return "".join(rows)


# ── sizes, costs and load ──


def recipe_spec() -> tuple[RunSpec, Recipe]:
    """The published recipe of DAPO at 8B, in flight."""
    recipe = next(one for one in list_published() if one.name == "dapo-math-qwen3-8b")
    spec = recipe.run_spec()
    document = spec.model_dump(mode="json")
    document["rollout"]["mode"] = {"type": "in_flight", "max_staleness": 4}
    return RunSpec.model_validate(document), recipe


def sizes_table(price: float) -> str:
    """Sizes and costs for policies of three sizes on 8, 64 and 1,024 GPUs, as a Markdown table."""
    spec, recipe = recipe_spec()
    rows = [
        "| policy | GPUs | split: engines + learner | step | generating · learning · waiting | GPU hours | cost |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name, scale in POLICIES.items():
        tokens, lengths = _needs(recipe).prompt_tokens, _lengths(recipe)
        sized = estimate(spec, scale, GPU, SIZES, prompt_tokens=tokens, lengths=lengths, price=price)
        rows += [_size(name, found) for found in sized]
    return "\n".join(rows) + "\n"


def _sizes() -> str:
    _, recipe = recipe_spec()
    return (
        "\n## Sizes and costs\n\n"
        f"A thousand steps of `{recipe.name}` (512 prompts × 16 completions, median 4,000 tokens) in flight, on "
        f"{GPU}, checkpoints and failures included, at {PRICE:.2f} for a GPU hour (`--price` takes another; a price is "
        "whatever yours is). Engines take the fewest GPUs of a host that hold the policy, the learner is cut over the "
        "fewest that hold its state; the split is the fastest.\n\n" + sizes_table(PRICE)
    )


def _size(policy: str, found: ClusterEstimate) -> str:
    if found.refusal is not None or found.step_seconds is None or found.shares is None or found.gpu_hours is None:
        return f"| {policy} | {found.gpus:,} | does not fit: {found.refusal} | | | | |"
    shares, cost = found.shares, f"{_figure(found.cost)}" if found.cost is not None else ""
    return (
        f"| {policy} | {found.gpus:,} | {found.rollout_gpus} + {found.learner_gpus} "
        f"| {_figure(found.step_seconds)} s "
        f"| {shares.generating:.0%} · {shares.learning:.0%} · {shares.waiting:.0%} "
        f"| {_figure(found.gpu_hours)} | {cost} |"
    )


def demands() -> list[tuple[int, Demand]]:
    """Load of the platform for each of ``SPLITS``: GPUs of one run, and the load of as many as fill 4,096."""
    spec, recipe = recipe_spec()
    batch, scale = batch_of(spec, _needs(recipe).prompt_tokens, _lengths(recipe)), POLICIES["8B"]
    reporting, found = Reporting(longest_text=MAX_TEXT), []
    for gpus in SPLITS:
        # Runs on fewer GPUs have fewer prompts, down to 16: nobody waits an hour for a step.
        own = replace(batch, prompts=max(16, batch.prompts * gpus // 512), updates=1)
        run = simulate_cluster(best_setting(spec, scale, GPU, gpus, own), steps=100)
        found.append((gpus, demand(run, own, WHOLE // gpus, reporting)))
    return found


def _demands() -> str:
    rows = [
        "| runs × GPUs | steps/s | completions/s | tokens/s | events/s | points/s | bytes/s | syncs/s, unasked |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    rows += [
        f"| {one.runs:,} × {gpus:,} | {_figure(one.events / 2)} | {_figure(one.rollouts)} | {_figure(one.tokens)} | "
        f"{_figure(one.events)} | {_figure(one.points)} | {_figure(one.bytes)} | {_figure(one.syncs)} |"
        for gpus, one in demands()
    ]
    return (
        f"\n## What {WHOLE:,} GPUs ask of the platform\n\n"
        f"The 8B policy of the table above, as runs of equal size that fill {WHOLE:,} {GPU}; a run has a prompt for "
        "each GPU, 16 at least. Completions stay on the cluster, but for those of four groups a step that people can "
        "read: they are nearly all of the bytes. Workers sync twice a second unless they are asked to come less often, "
        "which the platform does beyond 62 runs ([benchmarks.md](benchmarks.md) has what it was measured to carry).\n\n"
        + "\n".join(rows)
        + "\n"
    )


def _needs(recipe: Recipe) -> Published:
    assert recipe.published is not None
    return recipe.published


def _lengths(recipe: Recipe) -> Lengths:
    return TypeAdapter(Lengths).validate_python(_needs(recipe).lengths)


def _figure(value: float) -> str:
    """Three digits that count."""
    if value == 0:
        return "0"
    places = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{round(value, 2 - math.floor(math.log10(abs(value)))):,.{places}f}"


if __name__ == "__main__":
    sys.exit(main())
