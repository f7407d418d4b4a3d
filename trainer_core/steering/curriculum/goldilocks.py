"""Goldilocks filtering (Magistral, arXiv 2506.10910): epochs over the rows that are neither too hard nor too easy."""

from collections.abc import Mapping, Sequence
from typing import Any

from trainer_core.spec.data.curriculum import GoldilocksCurriculum
from trainer_core.steering.curriculum.order import EpochOrder
from trainer_core.steering.curriculum.prior import Prior


class GoldilocksOrder:
    """The rows inside the band, each once per epoch; the order covers all rows, so the band may move."""

    def __init__(
        self, name: str, rows: Sequence[Mapping[str, Any]], spec: GoldilocksCurriculum, seed: str, prior: Prior[int]
    ) -> None:
        """
        Args:
            name: the name of the source, for messages.
            rows: its rows.
            spec: columns and band.
            seed: seed of the order.
            prior: pass rates from the row notes, for a spec that takes its rates from there.

        Raises:
            ValueError: a row lacks a pass rate, or no row is in the band.
        """
        self._name = name
        if spec.rates == "notes":
            self._rates = [[_noted(name, index, prior)] for index in range(len(rows))]
        else:
            self._rates = [
                [_rate(name, index, row, column) for column in spec.columns] for index, row in enumerate(rows)
            ]
        self._inside = self._kept(spec)
        self._order = EpochOrder(len(rows), seed)

    def next(self) -> int:
        """The next row inside the band."""
        row = self._order.next()
        while not self._inside[row]:
            row = self._order.next()
        return row

    def rate(self, row: int) -> float:
        """The latest measured pass rate of ``row``."""
        return self._rates[row][-1]

    def check(self, spec: GoldilocksCurriculum) -> None:
        """Reject a band without rows; nothing changes.

        Raises:
            ValueError: no row is in it.
        """
        self._kept(spec)

    def set_band(self, spec: GoldilocksCurriculum) -> None:
        """Switch to another band."""
        self._inside = self._kept(spec)

    def rates(self) -> list[float] | None:
        """Pass rates of all rows; None if each row has two."""
        return [rate for (rate,) in self._rates] if len(self._rates[0]) == 1 else None

    def state(self) -> dict[str, Any]:
        """State for the checkpoint."""
        return self._order.state()

    def load(self, state: dict[str, Any]) -> None:
        """Restore from a checkpoint."""
        self._order.load(state)

    def _kept(self, spec: GoldilocksCurriculum) -> list[bool]:
        inside = [all(spec.min_pass_rate <= rate <= spec.max_pass_rate for rate in rates) for rates in self._rates]
        if not any(inside):
            raise ValueError(
                f"no row of the source {self._name!r} has pass rates between {spec.min_pass_rate:g} "
                f"and {spec.max_pass_rate:g}"
            )
        return inside


def _rate(name: str, index: int, row: Mapping[str, Any], column: str) -> float:
    value = row.get(column)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 <= value <= 1.0:
        raise ValueError(f"row {index} of the source {name!r} has no pass rate in {column!r}: found {value!r}")
    return float(value)


def _noted(name: str, index: int, prior: Prior[int]) -> float:
    if index not in prior:
        raise ValueError(f"row {index} of the source {name!r} has no pass rate in the row notes 'difficulty'")
    return prior[index][0]
