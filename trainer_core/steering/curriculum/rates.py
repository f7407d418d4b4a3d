"""Running pass rates: a decayed mean for each key, which may start from an earlier measured rate."""

from typing import Any, Generic, TypeVar

from trainer_core.steering.curriculum.prior import Prior

Key = TypeVar("Key", int, str)


class PassRates(Generic[Key]):
    """``p ← decay · p + (1 − decay) · group pass rate``; the first group counts in full.

    A prior for the key has the weight of its samples: the first group of n samples turns p₀ with n₀ samples into
    ``(n₀ · p₀ + n · rate) / (n₀ + n)``. From then on it decays as usual.
    """

    def __init__(self, decay: float, prior: Prior[Key] | None = None) -> None:
        self._decay = decay
        self._prior: Prior[Key] = {} if prior is None else prior
        self._rates: dict[Key, float] = {}

    def observe(self, key: Key, pass_rate: float, samples: int = 1) -> float:
        """Record the pass rate of one group of ``samples`` graded completions. Returns the running rate."""
        past, before = self._rates.get(key), self._prior.get(key)
        if past is not None:
            rate = self._decay * past + (1 - self._decay) * pass_rate
        elif before is not None:
            rate = (before[0] * before[1] + pass_rate * samples) / (before[1] + samples)
        else:
            rate = pass_rate
        self._rates[key] = rate
        return rate

    def get(self, key: Key) -> float | None:
        """The running rate, or else the prior's; None if neither is known."""
        rate = self._rates.get(key)
        if rate is None and (before := self._prior.get(key)) is not None:
            return before[0]
        return rate

    def items(self) -> list[tuple[Key, float]]:
        """All known rates: first prior rates of untried keys, then all tried keys in their order."""
        known = [(key, rate) for key, (rate, _) in self._prior.items() if key not in self._rates]
        known.extend(self._rates.items())
        return known

    def state(self) -> list[Any]:
        """State for the checkpoint, without the prior."""
        return [list(pair) for pair in self._rates.items()]

    def load(self, state: list[Any]) -> None:
        """Restore from a checkpoint."""
        self._rates = {key: float(rate) for key, rate in state}
