"""``python -m tests.bench.recipes broken``: broken methods beside their correct bases, and a reward that is hacked.

Runs that are done are kept in ``--cache``, by what they train with and by seed, so that a second call goes on where the
first was ended.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from time import monotonic

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


def place(cache: Path, case: Case, seed: int) -> Path:
    """Where the course of a case lies: of another setting it is another file."""
    setting = case.setting
    # As it is written: a field that the spec has gained since makes no other run of it.
    parts = (setting.run_spec(seed), setting.reward)
    spec, reward = (part.model_dump(mode="json", exclude_unset=True) for part in parts)
    own = [spec, reward, setting.lag, setting.steps, *(["right alone"] if setting.right_alone else [])]
    text = json.dumps(own, sort_keys=True)
    name = case.name.replace(" ", "-").replace("/", "-").replace(":", "").replace(",", "")
    return cache / "broken" / f"{name}-{seed}-{hashlib.sha256(text.encode()).hexdigest()[:12]}.json"


def measure_all(cache: Path, seeds: int = SEEDS, names: Sequence[str] = (), workers: int | None = None) -> None:
    """Make the runs that are missing, seed by seed, on as many cores as there are."""
    wanted = [(case, seed) for seed in range(seeds) for case in cases() if not names or case.name in names]
    missing = [(case.name, seed) for case, seed in wanted if not place(cache, case, seed).exists()]
    if not missing:
        return
    with ProcessPoolExecutor(workers or os.cpu_count() or 1, get_context("spawn")) as pool:
        for done in as_completed([pool.submit(measure, cache, name, seed) for name, seed in missing]):
            print(done.result(), flush=True)


def measure(cache: Path, name: str, seed: int) -> str:
    """Make one run and keep its course; returns a line that tells it."""
    import torch

    from tests.bench.skills.loop import train
    from tests.bench.skills.policy import POLICY

    torch.set_num_threads(1)
    case = next(case for case in cases() if case.name == name)
    began = monotonic()
    course = train(POLICY, case.setting, seed, None if case.fault is None else case.fault.hooks)
    file = place(cache, case, seed)
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    part.write_text(json.dumps(asdict(course)))
    part.rename(file)
    shown = " ".join(f"{found.mean:.2f}" for found in course.evaluations.values())
    return f"{name:60} seed {seed}: {shown}  ({monotonic() - began:.0f} s)"


def read(cache: Path, case: Case, seeds: int = SEEDS) -> list[dict[str, object]]:
    """The courses that are there, one per seed."""
    files = [place(cache, case, seed) for seed in range(seeds)]
    return [json.loads(file.read_text()) for file in files if file.exists()]
