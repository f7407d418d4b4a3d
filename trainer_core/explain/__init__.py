"""Explanation of what a run spec amounts to, in plain words and numbers. Imports without torch: the console shows it,
too."""

from collections.abc import Mapping
from dataclasses import dataclass

from trainer_core.explain.band import Band, bands
from trainer_core.explain.batch import EffectiveBatch, effective_batch
from trainer_core.explain.methods import Method, methods
from trainer_core.explain.remarks import remarks
from trainer_core.planning.memory import Memory, memory
from trainer_core.planning.policy_size import PolicySize
from trainer_core.spec import RunSpec

__all__ = ["Band", "EffectiveBatch", "Explanation", "Method", "explain"]


@dataclass(frozen=True, slots=True)
class Explanation:
    """A spec, resolved."""

    batch: EffectiveBatch
    bands: tuple[Band, ...]
    """The loss's first, then those of the corrections."""
    methods: tuple[Method, ...]
    watch: tuple[str, ...]
    """Names of metrics, those of the first method first."""
    memory: Memory | None
    """None where the policy's size is not known."""
    remarks: tuple[str, ...]
    """What the spec asks for and does not get, such as a clip that never acts."""


def explain(
    spec: RunSpec,
    size: PolicySize | None = None,
    teacher: PolicySize | None = None,
    rows: Mapping[str, int] | None = None,
) -> Explanation:
    """Explain what ``spec`` amounts to.

    Args:
        spec: the spec.
        size: the policy's size, if it is known.
        teacher: the teacher's size, if the spec names one and it is known.
        rows: number of rows of each dataset that is known, by its reference.
    """
    found = methods(spec)
    watch = tuple(dict.fromkeys(name for method in found for name in method.watch))
    needed = None if size is None else memory(size, spec, teacher=teacher)
    return Explanation(
        effective_batch(spec),
        bands(spec),
        found,
        watch,
        needed,
        remarks(spec, rows, None if size is None else size.parameters),
    )
