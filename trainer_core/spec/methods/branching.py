"""VinePPO: values of intermediate states from branches of the policy itself, in place of a critic's."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from trainer_core.spec.base import Advice, SpecModel, field, method_doc
from trainer_core.spec.methods.kinds import AdvantageModel, Compared


class TextSteps(SpecModel):
    """A step ends after a text; several in a row end one step."""

    type: Literal["text"] = "text"
    separator: str = field("\n", min_length=1, max_length=64)
    """The text that ends a step, such as a line break."""


class TokenSteps(SpecModel):
    """A step is a number of tokens."""

    type: Literal["tokens"] = "tokens"
    every: int = field(32, ge=1, le=1_048_576, unit="tokens")
    """Tokens of a step."""


Steps = Annotated[TextSteps | TokenSteps, Field(discriminator="type")]


class VineAdvantage(AdvantageModel):
    """The advantage of each step of a completion is how much it raised the chance of success.

    At the beginning of each step the engine samples branches to their end; their mean reward is the value of that
    state. The branches themselves are not trained on. The prompt is such a state too, valued once for all samples that
    share it. Within a step all tokens have the same advantage, and those of a completion's steps sum to its reward
    minus the value of its prompt. The cost per completion is the branches times the steps of half its length.
    """

    model_config = method_doc(
        "VinePPO",
        "V(s) = mean reward of K branches from s; A_t = V(s_{k+1}) − V(s_k) for the tokens of step k, V(end) = r",
        "VinePPO (arXiv 2410.01679), §4; K = 9 and at most 20 states: the authors' configurations",
    )
    advice: ClassVar[Advice] = Advice(
        "Answers of several steps whose reward comes at the end, when generation is cheap compared to learning.",
        ("vine/token_share", "vine/value/mean", "vine/error_share", "critic/score/mean"),
    )
    compares: ClassVar[Compared] = "branches"
    type: Literal["vine"] = "vine"
    branches: int = field(9, ge=1, le=256, unit="samples")
    """K: continuations that estimate a state's value."""
    steps: Steps = TextSteps()
    """How a completion is split into steps."""
    max_states: int = field(20, ge=1, le=1024, unit="states")
    """States of a completion that are valued, besides its prompt; if there are more, evenly spaced ones are chosen."""
    whiten: Literal["none", "batch"] = "batch"
    """Whether the advantages are standardised over the batch's sampled tokens (population deviation)."""

    @property
    def groupwise(self) -> bool:
        """Whether the advantages of a group follow from that group alone: not if the batch standardises them."""
        return self.whiten != "batch"
