"""What a case has shown, in figures, and the bounds by which it counts as working."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from tests.architectures.cases import Case, Kind

LARGEST: dict[Kind, float] = {"float32": 1e-4, "lora": 1e-4, "bfloat16": 0.5, "fp8": 1.0}
"""Nats between engine and learner at one token. In float32 only the order of sums differs."""
MEAN: dict[Kind, float] = {"float32": 1e-5, "lora": 1e-5, "bfloat16": 0.04, "fp8": 0.15}
"""Nats between engine and learner, mean over tokens."""
FLIPS = 3.0
"""Factor of both for a mixture of experts below float32: two experts that a router scores alike may change places
between engine and learner, and the token then goes another way. Replayed routes avoid it."""


def bounds(case: Case, *, replayed: bool = False) -> Difference:
    """Largest differences that are rounding, where routes are replayed or not."""
    flips = case.routed and not replayed and case.served[1] != "float32"
    factor = FLIPS if flips else 1.0
    return Difference(LARGEST[case.kind] * factor, MEAN[case.kind] * factor)


@dataclass(frozen=True, slots=True)
class Difference:
    """Absolute difference of log-probabilities in nats."""

    largest: float
    mean: float

    def within(self, bound: Difference) -> bool:
        """Whether neither is above ``bound``; not-a-number always is."""
        return self.largest <= bound.largest and self.mean <= bound.mean


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
        bound = bounds(self.case)
        found: list[str] = []
        for name, one in (("start", self.start), ("sampled", self.sampled), ("export", self.export)):
            # What transformers reads computes without FP8.
            if self.case.kind == "fp8" and name == "export":
                continue
            replayed = name == "sampled" and self.case.replays
            if one is None or not one.within(bounds(self.case, replayed=replayed)):
                found.append(f"{name}: {one}")
        if self.case.kind == "lora" and (self.adapter is None or not self.adapter.within(bound)):
            found.append(f"adapter: {self.adapter}")
        for step, (probe, moved) in enumerate(zip(self.probes, self.moved, strict=True), 1):
            if not probe.within(bound):
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
