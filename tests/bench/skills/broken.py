"""``python -m tests.bench.recipes broken``: broken methods beside their correct bases, and a reward that is hacked.

Runs that are done are kept, by what they train with and by seed, so that a second call goes on where the first was
ended.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from time import monotonic
from typing import Any

from tests.bench.kept import Kept, key_of
from tests.bench.skills.faults import FAULTS, MILD, Fault
from tests.bench.skills.settings import HACKING, Setting

SEEDS = 3


@dataclass(frozen=True)
class Case:
    """A run to be made: a setting, with a fault or without."""

    setting: Setting
    fault: Fault | None = None

    @property
    def name(self) -> str:
        """The fault, or the correct setting."""
        return self.setting.name if self.fault is None else f"{self.setting.name}, {self.fault.name}"


def cases() -> Iterator[Case]:
    """Each base once, each fault, and the settings of the hacked reward."""
    seen = set()
    for fault in (*FAULTS, *MILD):
        if fault.base.name not in seen:
            seen.add(fault.base.name)
            yield Case(fault.base)
        yield Case(fault.base, fault)
    for setting in HACKING:
        if setting.name not in seen:
            yield Case(setting)


def key(case: Case, seed: int) -> str:
    """What a course is kept under: of another setting it is another key."""
    setting = case.setting
    # As it is written: a field that the spec has gained since makes no other run of it.
    parts = (setting.run_spec(seed), setting.reward)
    spec, reward = (part.model_dump(mode="json", exclude_unset=True) for part in parts)
    own = [spec, reward, setting.lag, setting.steps, *(["right alone"] if setting.right_alone else [])]
    return key_of(case.name, seed, own)


def kept(folder: Path) -> Kept:
    """The courses that were measured."""
    return Kept(folder / "broken.jsonl")


def measure_all(folder: Path, seeds: int = SEEDS, names: Sequence[str] = (), workers: int | None = None) -> None:
    """Make the runs that are missing, seed by seed, on as many cores as there are."""
    wanted = [(case, seed) for seed in range(seeds) for case in cases() if not names or case.name in names]
    missing = [(case.name, seed) for case, seed in wanted if kept(folder).get(key(case, seed)) is None]
    if not missing:
        return
    with ProcessPoolExecutor(workers or os.cpu_count() or 1, get_context("spawn")) as pool:
        for done in as_completed([pool.submit(measure, folder, name, seed) for name, seed in missing]):
            print(done.result(), flush=True)


def measure(folder: Path, name: str, seed: int) -> str:
    """Make one run and keep its course; returns a line that tells it."""
    import torch

    from tests.bench.skills.loop import train
    from tests.bench.skills.policy import POLICY

    torch.set_num_threads(1)
    case = next(case for case in cases() if case.name == name)
    began = monotonic()
    course = train(POLICY, case.setting, seed, None if case.fault is None else case.fault.hooks)
    kept(folder).put(key(case, seed), asdict(course))
    shown = " ".join(f"{found.mean:.2f}" for found in course.evaluations.values())
    return f"{name:60} seed {seed}: {shown}  ({monotonic() - began:.0f} s)"


def read(folder: Path, case: Case, seeds: int = SEEDS) -> list[dict[str, Any]]:
    """The courses that are there, one per seed."""
    found = (kept(folder).get(key(case, seed)) for seed in range(seeds))
    return [course for course in found if course is not None]
