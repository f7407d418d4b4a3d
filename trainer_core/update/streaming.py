"""A step whose groups arrive piece by piece: gradients are summed with denominator 1 and divided at the end.

The gradient of a minibatch loss is Σ (token gradients · weight) / D, and D (tokens, or sequences) is known only when
the last group has arrived. Since D divides everything equally, summing the pieces with D = 1 and dividing once before
the optimizer step gives the same update.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from trainer_core.episodes import Trajectory
from trainer_core.methods.aggregation import Denominators
from trainer_core.spec import RunSpec
from trainer_core.spec.methods.aggregation import ConstantNormaliser, SequenceMean, TokenMean
from trainer_core.spec.methods.entropy import AdaptiveEntropyBonus
from trainer_core.update.objective.policy_objective import denominators
from trainer_core.update.objective.refine import whole_step
from trainer_core.update.optimization.rate import SampleWeights
from trainer_core.update.totals import Totals

UNIT = Denominators(sequences=1, tokens=1, prompt_tokens={})


class CannotStream(ValueError):
    """The spec's update needs the whole step together; the message says why."""


@dataclass(slots=True)
class StreamedStep:
    """Accumulated state of an unfinished step."""

    spec: RunSpec
    step: int
    totals: Totals = field(default_factory=Totals)
    tokens: int = 0
    sequences: int = 0
    shown: list[Trajectory] = field(default_factory=list)
    """Samples of the supervised term, whose denominator is the whole step's."""
    weights: SampleWeights = field(default_factory=SampleWeights)

    def count(self, part: Sequence[Trajectory]) -> None:
        """Add a piece to the denominators."""
        whole = denominators(part)
        self.tokens += whole.tokens
        self.sequences += whole.sequences

    @property
    def divisor(self) -> int:
        """Divisor of the accumulated gradient and of the sums of the loss."""
        return max(1, self.tokens if isinstance(self.spec.aggregation, TokenMean) else self.sequences)


def refusal(spec: RunSpec) -> str | None:
    """Reason why a step under ``spec`` cannot be streamed, in one sentence; None if it can."""
    if spec.examples is not None:
        return f"the objective {spec.objective.type} cannot be streamed: its rows are there from the start of a step"
    if spec.schedule.epochs > 1:
        return f"{spec.schedule.epochs} passes over a batch cannot be streamed: the second would need the whole of it"
    if spec.schedule.updates_per_step > 1:
        return (
            f"{spec.schedule.updates_per_step} updates per step cannot be streamed: "
            "the second would wait for groups that are generated before the first"
        )
    if not isinstance(spec.aggregation, TokenMean | SequenceMean | ConstantNormaliser):
        return f"the aggregation {spec.aggregation.type} cannot be streamed: it divides by more than one count"
    if isinstance(spec.entropy, AdaptiveEntropyBonus):
        return "the entropy bonus adaptive cannot be streamed: its weight depends on the entropy of the whole step"
    return whole_step(spec)
