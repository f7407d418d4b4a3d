"""Running pass rates: a decayed mean for each key."""

from typing import Any, Generic, TypeVar

Key = TypeVar("Key", int, str)


class PassRates(Generic[Key]):
    """``p ← decay · p + (1 − decay) · group pass rate``; the first group counts in full."""

    def __init__(self, decay: float) -> None:
        self._decay = decay
        self._rates: dict[Key, float] = {}

    def observe(self, key: Key, pass_rate: float) -> float:
        """Take in the pass rate of one group. Returns the running rate."""
        past = self._rates.get(key)
        rate = pass_rate if past is None else self._decay * past + (1 - self._decay) * pass_rate
        self._rates[key] = rate
        return rate

    def get(self, key: Key) -> float | None:
        """The running rate; None for what was never tried."""
        return self._rates.get(key)

    def items(self) -> list[tuple[Key, float]]:
        """All rates, in the order of the first tries."""
        return list(self._rates.items())

    def state(self) -> list[Any]:
        """State for the checkpoint."""
        return [list(pair) for pair in self._rates.items()]

    def load(self, state: list[Any]) -> None:
        """Go on from a checkpoint."""
        self._rates = {key: float(rate) for key, rate in state}
