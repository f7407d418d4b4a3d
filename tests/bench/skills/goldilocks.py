"""``python -m tests.bench.recipes goldilocks``: the same run on all rows, and on those that a difficulty profile keeps.

Three beginnings, from one where nearly every row teaches to one where most do not. A profile by the policy that begins
leaves out rows that it solves seldom or nearly always, and those whose gold it doubts.
"""

from __future__ import annotations

import os
import random
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal

from tests.bench.kept import Kept, key_of
from tests.bench.skills.families import Family, Problem
from tests.bench.skills.settings import ON_POLICY

if TYPE_CHECKING:
    from tests.bench.skills.loop import NumberedRow, Weights
    from tests.bench.skills.profile import Found

SEEDS = 3
LOW, HIGH = 0.05, 0.9
"""Pass rates that stay."""
SAMPLES = 8
"""Samples of a row on average."""
OUT_OF_REACH: tuple[tuple[Family, int], ...] = (("sort", 7), ("sort", 8), ("sort", 9), ("sum", 9), ("sum", 12))
"""Families and digits of problems that the policy of the beginning solves in less than 0.5 % of its answers."""
BEYOND = 7200
"""Rows out of reach: twice as many as the task has."""
BEGUN = 100
"""Seed of the run that makes the policy which has learned."""
SEED = 17

Rows = Literal["all", "kept"]


@dataclass(frozen=True)
class Beginning:
    """What a run begins with."""

    name: str
    has_learned: bool = False
    """Whether the policy has had a run on the task's rows before."""
    beyond: int = 0
    """Rows out of reach beside the task's own."""

    def made_of(self, rows: Rows) -> list[Any]:
        """Whatever a measurement depends on beside its seed; a field that the spec gains later is no part of it."""
        spec = ON_POLICY.run_spec(0).model_dump(mode="json", exclude_unset=True)
        return [asdict(self), rows, LOW, HIGH, SAMPLES, OUT_OF_REACH, spec]


BEGINNINGS = (
    Beginning("the task as it is"),
    Beginning("after a first run", has_learned=True),
    Beginning("two of three rows out of reach", beyond=BEYOND),
)


def kept(folder: Path) -> Kept:
    """The runs and profiles that were measured."""
    return Kept(folder / "goldilocks.jsonl")


def key(beginning: Beginning, rows: Rows, seed: int) -> str:
    """What a run is kept under."""
    return key_of(f"{beginning.name}, {rows} rows", seed, beginning.made_of(rows))


def profile_key(beginning: Beginning) -> str:
    """What a profile is kept under."""
    return key_of(f"{beginning.name}, profile", SEED, beginning.made_of("kept"))


def measure_all(folder: Path, seeds: int = SEEDS, workers: int | None = None) -> None:
    """Make what is missing: a profile and six runs of each beginning."""
    for beginning in BEGINNINGS:
        wanted: list[tuple[Rows, int]] = [(rows, seed) for seed in range(seeds) for rows in ("all", "kept")]
        missing = [(rows, seed) for rows, seed in wanted if kept(folder).get(key(beginning, rows, seed)) is None]
        if missing:
            _measure(folder, beginning, missing, workers or os.cpu_count() or 1)


def _measure(folder: Path, beginning: Beginning, missing: Sequence[tuple[Rows, int]], workers: int) -> None:
    with tempfile.TemporaryDirectory(prefix="dressage-goldilocks-") as place:
        with ProcessPoolExecutor(1, get_context("spawn")) as alone:
            chosen = alone.submit(_prepare, folder, beginning, Path(place)).result()
        with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
            runs = [pool.submit(_run, folder, beginning, Path(place), chosen, rows, seed) for rows, seed in missing]
            for done in as_completed(runs):
                print(done.result(), flush=True)


def _prepare(folder: Path, beginning: Beginning, place: Path) -> list[int]:
    """Make the policy in ``place`` and profile all rows by it. Returns the numbers of those that are kept."""
    import torch
    from safetensors.torch import load_file

    from tests.bench.skills.loop import train
    from tests.bench.skills.policy import POLICY
    from tests.bench.skills.profile import profile, wrong_golds
    from trainer_core.profiling import PassBand, SamplingPlan, count_states, dead_share, fit_prior

    torch.set_num_threads(1)
    shutil.copytree(POLICY, place, dirs_exist_ok=True)
    if beginning.has_learned:
        train(POLICY, ON_POLICY, BEGUN, weights=lambda found: _write(place, found))
    weights = {name: values.float().numpy() for name, values in load_file(place / "model.safetensors").items()}
    rows = _rows(beginning)
    plan = SamplingPlan(PassBand(LOW, HIGH), budget=SAMPLES * len(rows))
    found, wrong = profile(place, weights, rows, plan, SEED), wrong_golds()
    chosen = [row for row in range(len(rows)) if row not in found.suspects and LOW <= _rate(found, row) <= HIGH]
    states = count_states(found.tallies)
    report = {
        "rows": len(rows),
        "kept": len(chosen),
        "tokens": found.tokens,
        "wrong": len(wrong),
        "wrong_kept": len(wrong.intersection(chosen)),
        "suspects": len(found.suspects),
        "suspects_wrong": len(found.suspects & wrong),
        "dead_all": dead_share(states, fit_prior(states), ON_POLICY.run_spec(0).rollout.group_size),
    }
    kept(folder).put(profile_key(beginning), report)
    print(beginning.name, report, flush=True)
    return chosen


def _run(folder: Path, beginning: Beginning, policy: Path, chosen: Sequence[int], rows: Rows, seed: int) -> str:
    import torch

    from tests.bench.skills.loop import AT_THE_END, Pace, train

    torch.set_num_threads(1)
    every, began = _rows(beginning), monotonic()
    mine = every if rows == "all" else [every[row] for row in chosen]
    course = train(policy, ON_POLICY, seed, draw=lambda rng: rng.choice(mine), pace=Pace(5, AT_THE_END))
    kept(folder).put(key(beginning, rows, seed), asdict(course))
    shown = " ".join(f"{found.mean:.2f}" for found in course.evaluations.values())
    return f"{beginning.name}, {rows} rows, seed {seed}: {shown}  ({monotonic() - began:.0f} s)"


def _rows(beginning: Beginning) -> list[NumberedRow]:
    from tests.bench.skills.profile import all_rows

    return [*all_rows(), *_beyond(beginning.beyond)]


def _beyond(count: int) -> Iterator[NumberedRow]:
    rng = random.Random(SEED)
    for number in range(count):
        family, size = rng.choice(OUT_OF_REACH)
        problem = Problem(family, tuple(rng.randrange(1, 10) for _ in range(size)))
        yield "beyond", number, {"prompt": problem.prompt, "answer": problem.answer}


def _rate(found: Found, row: int) -> float:
    tally = found.tallies[row]
    return tally.correct / tally.samples


def _write(place: Path, weights: Weights) -> None:
    import numpy as np
    import torch
    from safetensors.torch import save_file

    tensors = {name: torch.from_numpy(np.ascontiguousarray(values)) for name, values in weights.items()}
    save_file(tensors, place / "model.safetensors", metadata={"format": "pt"})
