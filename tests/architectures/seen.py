"""What a case has shown, in figures, and the bounds by which it counts as working."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from tests.architectures.cases import Case

LARGEST = {"float32": 1e-4, "bfloat16": 0.5}
"""Nats between engine and learner at one token. Both round in the same places in float32; in bfloat16 they do not."""
MEAN = {"float32": 1e-5, "bfloat16": 0.04}
"""Nats between engine and learner, mean over tokens."""
FLIPPED_LARGEST, FLIPPED_MEAN = 3.0, 0.15
"""The same for a mixture of experts in bfloat16 where routes are not replayed: one or two of a hundred differ, and a
random expert says something else altogether."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Absolute difference of log-probabilities in nats."""

    largest: float
    mean: float

    def within(self, dtype: str, *, flips: bool = False) -> bool:
        """Whether it is rounding in ``dtype``, where routes may have flipped or not; not-a-number never is."""
        flips = flips and dtype == "bfloat16"
        largest, mean = (FLIPPED_LARGEST, FLIPPED_MEAN) if flips else (LARGEST[dtype], MEAN[dtype])
        return self.largest <= largest and self.mean <= mean


@dataclass(slots=True)
class Seen:
    """Outcome of one case."""

    case: Case
    start: Difference | None = None
    """Engine and learner before the first update."""
    probes: list[Difference] = field(default_factory=list)
    """Engine and learner after each update."""
    moved: list[float] = field(default_factory=list)
    """Mean change of the learner's log-probabilities by each update: what an engine on old weights would show."""
    sampled: Difference | None = None
    """Engine's and learner's log-probabilities of tokens sampled from the same weights, all steps together."""
    k3_kl: float | None = None
    """``rollout_corr/k3_kl`` of the same tokens."""
    export: Difference | None = None
    """The learner, and ``AutoModelForCausalLM`` from its checkpoint."""
    adapter: Difference | None = None
    """The learner, and peft's model from the base policy and the checkpoint's adapter."""
    resumed: float | None = None
    """Largest difference between weights after an update, with and without a checkpoint before it."""
    seconds: float = 0.0
    failure: str = ""
    """Error that ended the case, if any."""

    def complaints(self) -> list[str]:
        """Reasons why the case does not count as working."""
        if self.failure:
            return [self.failure]
        dtype, routed = self.case.dtype, self.case.routed
        found: list[str] = []
        for name, one in (("start", self.start), ("sampled", self.sampled), ("export", self.export)):
            if one is None or not one.within(dtype, flips=routed and not (name == "sampled" and self.case.replays)):
                found.append(f"{name}: {one}")
        if self.case.kind == "lora" and (self.adapter is None or not self.adapter.within(dtype)):
            found.append(f"adapter: {self.adapter}")
        for step, (probe, moved) in enumerate(zip(self.probes, self.moved, strict=True), 1):
            if not probe.within(dtype, flips=routed):
                found.append(f"after update {step}: {probe}")
            if not moved > 2 * probe.mean:
                found.append(f"update {step} moved log-probabilities by {moved:.2g} only: the probe shows nothing")
        if self.resumed != 0.0:
            found.append(f"resumed weights differ by {self.resumed}")
        return found

    def as_json(self) -> dict[str, Any]:
        """The outcome with figures of two digits."""
        found = rounded(asdict(self)) | {"complaints": self.complaints(), "seconds": round(self.seconds, 1)}
        assert isinstance(found, dict)
        return found


def rounded(value: Any) -> Any:
    """``value`` with every float in it at two significant digits."""
    if isinstance(value, float):
        return float(f"{value:.2g}")
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    return [rounded(one) for one in value] if isinstance(value, list | tuple) else value
