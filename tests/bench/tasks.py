"""The two tasks that recipes are measured on: the demo's additions, and skills that have to grow."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.skills.families import sources
from tests.bench.skills.rows import held_out_rows, training_rows
from tests.bench.skills.settings import LONGEST
from tests.support.installation import ROOT

Rows = dict[str, list[dict[str, Any]]]


@dataclass(frozen=True)
class Task:
    """A policy with what it is trained and examined on."""

    name: str
    policy: Path
    """Folder; recipes call it ``starter``."""
    sources: Mapping[str, str]
    """Datasets to train on, by source."""
    held_out: Mapping[str, str]
    """Datasets to examine on, by source."""
    prompts: int
    """Held-out prompts of each source at an evaluation."""
    every: int
    """Steps between two evaluations."""
    rows: Callable[[], Rows]
    """Rows of all datasets, by the names above."""
    max_tokens: int | None = None
    """Longest completion; None: the recipe's."""
    rewards: Mapping[str, dict[str, Any]] | None = None
    """Rewards by the names that recipes call them; None: the demo's."""

    def identity(self) -> list[Any]:
        """Whatever a kept curve depends on beside the recipe."""
        own = [self.sources, self.every, self.prompts]
        return own if self.max_tokens is None else [*own, self.name, self.max_tokens, self.rewards]

    def change(self, spec: dict[str, Any], steps: int, seed: int) -> dict[str, Any]:
        """A recipe's document with this task, so many steps and a seed; all else is the recipe's own."""
        spec["data"]["sources"] = [{"name": name, "dataset": dataset} for name, dataset in self.sources.items()]
        spec["schedule"] |= {"steps": steps, "seed": seed}
        spec["evaluation"] |= {
            "every_steps": self.every,
            "max_prompts": self.prompts,
            "sources": [{"name": name, "dataset": dataset} for name, dataset in self.held_out.items()],
        }
        spec["checkpoint"] |= {"every_steps": steps}
        if self.max_tokens is not None:
            factor = self.max_tokens / spec["rollout"]["max_tokens"]
            spec["rollout"]["max_tokens"] = self.max_tokens
            _widen(spec["length_window"], factor)
        return spec


def _widen(window: dict[str, Any] | None, factor: float) -> None:
    """Scale the lengths that a window names: recipes fit them to the demo's completions."""
    for name in ("min", "max", "stages"):
        if window and name in window:
            value = window[name]
            window[name] = [round(one * factor) for one in value] if name == "stages" else round(value * factor)


def _demo_rows() -> Rows:
    names = ("gsm8k-add-sub", "gsm8k-eval")
    files = {name: ROOT / "demo" / "data" / f"{name}.jsonl" for name in names}
    return {f"{name}@1": [json.loads(line) for line in file.read_text().splitlines()] for name, file in files.items()}


def _skill_rows() -> Rows:
    training: Rows = {f"{source}@1": list(training_rows(source)) for source in sources()}
    return training | {f"{source}-eval@1": list(held_out_rows(source, SKILLS.prompts)) for source in sources()}


DEMO = Task(
    name="demo",
    policy=ROOT / "demo" / "starter-policy",
    sources={"add_sub": "gsm8k-add-sub@1"},  # of the demo's mixture, the part that its small policy can learn
    held_out={"add_sub": "gsm8k-eval@1"},
    prompts=192,
    every=5,
    rows=_demo_rows,
)
_EXACT = {"name": "correct", "weight": 1.0, "grader": {"type": "exact"}}
_FORMAT = {"name": "format", "weight": 0.1, "grader": {"type": "format"}}
_LENGTH = {"name": "length", "weight": 0.1, "grader": {"type": "length_penalty", "free": 24, "full": LONGEST}}
SKILLS = Task(
    name="skills",
    policy=ROOT / "tests" / "bench" / "skills" / "policy",
    sources={source: f"{source}@1" for source in sources()},
    held_out={source: f"{source}-eval@1" for source in sources()},
    prompts=24,
    every=10,
    rows=_skill_rows,
    max_tokens=LONGEST,
    rewards={"calculation": {"components": [_EXACT]}, "calculation-format": {"components": [_EXACT, _FORMAT, _LENGTH]}},
)
TASKS = {task.name: task for task in (DEMO, SKILLS)}
