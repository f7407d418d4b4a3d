"""The cases of the matrix: an architecture, its head, a number type or an adapter, and how rollouts meet updates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, product
from typing import Literal, get_args

from trainer_core.starter.architectures import ARCHITECTURES
from trainer_core.support import ARCHITECTURES as SUPPORTED

Head = Literal["tied", "untied"]
Kind = Literal["float32", "lora", "bfloat16", "fp8"]
Mode = Literal["sync", "in_flight"]
KINDS: tuple[Kind, ...] = get_args(Kind)
MODES: tuple[Mode, ...] = get_args(Mode)
UPDATES = 3
"""Updates of a case before its checkpoint."""
WHOLE_STEPS = 3
"""Steps of a whole run on Ray."""
KILLED_AFTER = 2
"""Step behind whose checkpoint a whole run is killed; its second attempt goes on from there."""


@dataclass(frozen=True, slots=True)
class Case:
    """One policy on its way through a whole loop."""

    architecture: str
    """A key of ``ARCHITECTURES``."""
    head: Head
    kind: Kind
    """Number type of engine and learner, an adapter in float32, or simulated FP8 in both."""
    mode: Mode
    """Whether weights change between rollouts or in their midst."""

    @property
    def dtype(self) -> Literal["float32", "bfloat16"]:
        """Number type of the files, and of the learner's weights."""
        return "bfloat16" if self.kind == "bfloat16" else "float32"

    @property
    def served(self) -> tuple[Head, Literal["float32", "bfloat16"], bool]:
        """Head, number type and FP8 of an engine that can serve it."""
        return self.head, "float32" if self.kind in ("float32", "lora") else "bfloat16", self.kind == "fp8"

    @property
    def routed(self) -> bool:
        """Whether it is a mixture of experts whose engine tells routes."""
        return SUPPORTED[ARCHITECTURES[self.architecture].model].routes

    @property
    def replays(self) -> bool:
        """Whether the learner sends sampled tokens where the engine has sent them.

        Where weights change in the midst, what came before is computed again, and keeps its first routes in the
        learner: they are those behind the tokens that were drawn.
        """
        return self.routed and self.mode == "sync"

    def __str__(self) -> str:
        return "-".join((self.architecture, self.head, self.kind, self.mode))


def all_cases(architectures: Sequence[str] = ()) -> list[Case]:
    """Every case of the given architectures (none: all)."""
    return [
        Case(name, head, kind, mode)
        for name in architectures or ARCHITECTURES
        for head, kind, mode in product(ARCHITECTURES[name].heads, KINDS, MODES)
    ]


def slice_of_cases() -> list[Case]:
    """One case for each architecture, of a kind that it can; any two of head, kind and mode meet in some of them."""
    variants = cycle(product(MODES, KINDS))
    heads = {"tied": 0, "untied": 0}
    chosen = []
    for name, architecture in ARCHITECTURES.items():
        head = min(architecture.heads, key=lambda one: heads[one])
        heads[head] += 1
        mode, kind = next(variants)
        if kind == "fp8" and not SUPPORTED[architecture.model].fp8:
            kind = "bfloat16"
        chosen.append(Case(name, head, kind, mode))
    return chosen
