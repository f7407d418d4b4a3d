"""The kinds of methods: what the parts around a method must know of it, whichever member of its kind it is.

A member is a class of parameters. Its formula stands in ``trainer_core.methods`` (torch), where the table of its kind
names it; a member of an installed package names it itself (``function``).
"""

from typing import TYPE_CHECKING, ClassVar, Literal

from trainer_core.spec.base import SpecModel

Compared = Literal["group", "parts", "batch", "value", "branches", "penalised"]
"""What a reward is measured against: the rewards of its group, each part of them alone, those of the whole batch, a
value that a critic has predicted, or the rewards of branches from the same state. Filters are told ``penalised`` where
a penalty that the learner alone can score is part of the group's advantages (``RunSpec.compares``)."""
Anchor = Literal["proximal", "behaviour", "none"]
"""The policy that a loss's ratio is taken against: that of before the step, that which sampled, or none."""
Penalty = Literal["token", "to_go", "sequence", "return"]
"""How a KL penalty in the reward is paid. ``token``: each token's is taken off its advantage. ``to_go``: its own and
those behind it are taken off the reward before the batch standardises it. ``sequence``: the whole sequence's is taken
off the reward before rewards are compared. ``return``: each is its token's own reward."""
Stage = Literal["rewards", "trajectories", "tokens"]
"""When a filter acts: before the advantages are made, after them, or in the learner, on single tokens."""


class MethodModel(SpecModel):
    """Parameters of a method that is one of several of its kind, chosen by ``type``."""

    function: ClassVar[str] = ""
    """Reference to the formula, ``package.module:function``; only for members of installed packages."""

    if TYPE_CHECKING:
        type: str


class LossModel(MethodModel):
    """Parameters of a policy loss. Formula: ``(spec, TokenView) -> (loss of each token [N], metrics)``."""

    anchor: ClassVar[Anchor] = "proximal"
    weighs_behaviour: ClassVar[bool] = False
    """Whether the loss weighs by the policy that sampled: a correction must not do so a second time."""
    whole_sequences: ClassVar[bool] = False
    """Whether one ratio weighs all tokens of a completion, which a correction by tokens would contradict."""
    ratio_note: ClassVar[str] = ""
    """Words behind the quotient in the picture of the weights, which tell what ratio it is taken of."""

    @property
    def top_tokens(self) -> int:
        """Number of likeliest tokens that the engine must tell at every step."""
        return 0

    @property
    def candidates(self) -> int:
        """Number of the policy's own likeliest tokens whose probabilities the loss looks at."""
        return 0

    def gradient_weight(self, ratio: float, sign: int) -> float | None:
        """The picture of the loss: ``−∂L/∂log π_θ / A`` of a token at ``ratio`` with A = ``sign``; None: no picture.

        The other tokens of the completion are on policy. 1 is the plain policy gradient; a token at 0 teaches nothing.
        """
        return None


class AdvantageModel(MethodModel):
    """Parameters of an advantage. Formula: ``(spec, rewards [G, S], mask [G, S], Inputs) -> advantages [G, S]``."""

    compares: ClassVar[Compared] = "group"
    penalty: ClassVar[Penalty] = "token"
    """How the penalty is paid under ``kl.placement`` = reward."""
    needs_scores: ClassVar[bool] = False
    """Whether the formula looks at ``Inputs.importance``, for which the learner scores the step before its update."""

    @property
    def groupwise(self) -> bool:
        """Whether the advantages of a group follow from that group alone, so that a step may be learned in parts."""
        return False


class ComparingAdvantage(AdvantageModel):
    """Parameters of an advantage that compares rewards with each other."""

    counted: Literal["all", "learned"] = "all"
    """Which samples count in the means and deviations. ``all``: each whose reward is known, also if a filter leaves it
    out of the loss, as in verl, in TRL's ``mask_truncated_completions``, and in Adv-Mask-After of Skywork-OR1 (arXiv
    2505.22312). ``learned``: none that is cut off, too long or repetitive and that a filter therefore leaves out, and
    none without a sampled token (its Adv-Mask-Before)."""


class GroupAdvantage(ComparingAdvantage):
    """Parameters of an advantage that may be whitened afterwards, which is done for it."""

    whiten: Literal["none", "batch"] = "none"
    """Whether the advantages are standardised over the batch afterwards (population deviation; 0 stays 0 where a
    group carries no signal)."""

    @property
    def groupwise(self) -> bool:
        """Whether the advantages of a group follow from that group alone: not if the batch standardises them."""
        return self.compares == "group" and self.whiten != "batch"


class FilterModel(MethodModel):
    """Parameters of a filter. Its formula depends on its stage, and changes the groups or answers a mask.

    ``rewards``: ``(spec, groups) -> None``; ``trajectories``: ``(spec, groups, compares) -> None``; ``tokens``:
    ``(spec, logprobs [N], entropies [N], rewards [N]) -> which tokens keep their advantage, bool [N]``.
    """

    stage: ClassVar[Stage] = "trajectories"
    before_rewards: ClassVar[bool] = False
    """Whether the filter looks at completions alone, so that it may act before their rewards are compared."""
    whole_step: ClassVar[bool] = False
    """Whether the filter compares what lies in different groups, so that a step cannot be learned in parts."""


class CorrectionModel(MethodModel):
    """Parameters of a correction. Formula: ``(spec, TokenView) -> (weight of each token [N], metrics)``."""

    weighs_ratio: ClassVar[bool] = False
    """Whether the correction multiplies by the importance ratio: one at most may."""

    def gradient_weight(self, ratio: float) -> float | None:
        """The weight of a token at the ratio learner / engine; None where the weight does not follow from it."""
        return None
