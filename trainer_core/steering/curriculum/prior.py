"""Priors: pass rates that were measured before the run, for example by a profile of the dataset."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

Key = TypeVar("Key", int, str)
Prior = Mapping[Key, tuple[float, int]]
"""(Pass rate, number of samples it was measured with) of each known key."""
Priors = Mapping[str, Prior[int]]
"""Prior of each source, by row index; sources without known rates are left out."""


def measured(rates: Sequence[float | None], samples: Sequence[int | None]) -> Prior[int]:
    """The prior of rows.

    Args:
        rates: pass rate of each row, shape [rows]; None if it is not known.
        samples: number of completions that each rate was measured with, shape [rows]; rows without any are left out.

    Raises:
        ValueError: a rate is not between 0 and 1, or a number of samples is negative. The message names the row.
    """
    found: dict[int, tuple[float, int]] = {}
    for row, (rate, count) in enumerate(zip(rates, samples, strict=True)):
        if rate is None or math.isnan(rate) or not count:
            continue
        if not 0.0 <= rate <= 1.0 or count < 0:
            raise ValueError(f"row {row} has a pass rate of {rate} by {count} samples")
        found[row] = (float(rate), int(count))
    return found


def dumped(priors: Priors) -> dict[str, list[list[Any]]]:
    """Priors as JSON: rows, rates and samples of each source."""
    return {source: _columns(prior.items()) for source, prior in priors.items()}


def loaded(state: Mapping[str, Sequence[Sequence[Any]]]) -> dict[str, Prior[int]]:
    """Priors that ``dumped`` wrote."""
    return {
        source: {row: (rate, count) for row, rate, count in zip(*columns, strict=True)}
        for source, columns in state.items()
    }


def saved(curriculum: Mapping[str, Any]) -> dict[str, Prior[int]]:
    """Priors in a checkpoint's curriculum state; none if the checkpoint comes from a release without priors."""
    return loaded(curriculum.get("priors", {}))


def _columns(entries: Iterable[tuple[int, tuple[float, int]]]) -> list[list[Any]]:
    listed = list(entries)
    return [
        [row for row, _ in listed],
        [rate for _, (rate, _) in listed],
        [count for _, (_, count) in listed],
    ]
