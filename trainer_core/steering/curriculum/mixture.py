"""Chooses the source of each prompt of a batch."""

from collections.abc import Mapping
from random import Random
from typing import Any

from trainer_core.spec.data.curriculum import AdaptiveRatioCurriculum
from trainer_core.spec.run import RunSpec
from trainer_core.steering.curriculum.adaptive_ratio import RatioKeeper


class Mixture:
    """Weights of the sources: those of the spec, in transition to the final ones, adjusted if the spec says so."""

    def __init__(self, spec: RunSpec) -> None:
        self._spec = spec
        self._keeper = RatioKeeper() if isinstance(spec.curriculum, AdaptiveRatioCurriculum) else None

    def weights(self, step: int) -> dict[str, float]:
        """Weight of each source for the batch of ``step``; only their ratios count."""
        weights = {source.name: source.weight for source in self._spec.data.sources}
        transition = self._spec.data.transition
        if transition is not None:
            passed = min(max((step - transition.start) / (transition.end - transition.start), 0.0), 1.0)
            for final in transition.sources:
                weights[final.name] += (final.weight - weights[final.name]) * passed
        curriculum = self._spec.curriculum
        if self._keeper is not None and isinstance(curriculum, AdaptiveRatioCurriculum):
            return self._keeper.adjusted(curriculum, weights)
        return weights

    def choose(self, rng: Random, count: int, step: int) -> list[str]:
        """The sources of ``count`` prompts; a source of weight 0 is never chosen."""
        weights = self.weights(step)
        return rng.choices(list(weights), list(weights.values()), k=count)

    def observe(self, source: str, pass_rate: float) -> None:
        """Record that a group of ``source`` has come back."""
        if self._keeper is not None and isinstance(self._spec.curriculum, AdaptiveRatioCurriculum):
            self._keeper.observe(self._spec.curriculum, source, pass_rate)

    def update_spec(self, spec: RunSpec) -> None:
        """Continue under other weights. Groups counted under the old weights are forgotten: they say nothing about the
        new ones."""
        before, self._spec = self._identity(), spec
        moved = before != self._identity()
        if moved and self._keeper is not None:
            self._keeper = RatioKeeper()

    def state(self) -> dict[str, Any]:
        """State for the checkpoint."""
        return {"weights": self._identity(), "counts": None if self._keeper is None else self._keeper.state()}

    def load(self, state: Mapping[str, Any]) -> None:
        """Restore from a checkpoint; counts made under other weights are dropped."""
        if self._keeper is not None and state["counts"] is not None and state["weights"] == self._identity():
            self._keeper.load(state["counts"])

    def _identity(self) -> dict[str, Any]:
        # Prompt formatting does not affect weights, and the weights of the current stage are in the sources.
        return self._spec.data.model_dump(mode="json", exclude={"sources": {"__all__": {"format"}}, "stages": True})
