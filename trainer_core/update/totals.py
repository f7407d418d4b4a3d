"""Metrics of a step, added up over micro-batches, minibatches and ranks."""

from collections.abc import Mapping

from torch import Tensor

from trainer_core.update.collectives import gather


class Totals:
    """Three kinds of metric: means over tokens, sums of shares, and maxima (names that end in ``max``)."""

    def __init__(self) -> None:
        self._means: dict[str, tuple[float, float]] = {}
        self._sums: dict[str, float] = {}
        self._maxima: dict[str, float] = {}

    def add_metrics(self, metrics: Mapping[str, Tensor | float] | Mapping[str, float], count: float) -> None:
        """Add means (or maxima) over ``count`` tokens, or nothing if there are none."""
        if count == 0:
            return
        for name, value in metrics.items():
            number = float(value)
            if name.endswith("max"):
                self._maxima[name] = max(self._maxima.get(name, number), number)
            else:
                total, weight = self._means.get(name, (0.0, 0.0))
                self._means[name] = (total + number * count, weight + count)

    def add_share(self, name: str, share: Tensor | float) -> None:
        """Add one share of a sum."""
        self._sums[name] = self._sums.get(name, 0.0) + float(share)

    def mean(self, name: str) -> tuple[float, float] | None:
        """The current mean on this rank, with its number of tokens; None if there is none."""
        total, weight = self._means.get(name, (0.0, 0.0))
        return (total / weight, weight) if weight else None

    def add(self, other: "Totals") -> None:
        """Add all metrics of ``other``."""
        self._merge(other._means, other._sums, other._maxima)

    def _merge(
        self, means: Mapping[str, tuple[float, float]], sums: Mapping[str, float], maxima: Mapping[str, float]
    ) -> None:
        for name, (total, weight) in means.items():
            self.add_metrics({name: total / weight}, weight)
        for name, share in sums.items():
            self.add_share(name, share)
        self.add_metrics(maxima, 1)

    def values(self) -> dict[str, float]:
        """All metrics over all ranks. Collective if there is more than one rank."""
        merged = Totals()
        for means, sums, maxima in gather((self._means, self._sums, self._maxima)):
            merged._merge(means, sums, maxima)
        result = {name: total / weight for name, (total, weight) in merged._means.items()}
        return {**result, **merged._sums, **merged._maxima}
