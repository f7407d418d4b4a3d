"""Change of a completion's reward by its length, once its whole group is scored."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from trainer_core.spec.base import Advice, SpecModel, field, method_doc
from trainer_core.spec.generation.per_prompt import PerPromptTokens, SampledTokens
from trainer_core.spec.watched import LENGTH


class MagistralLength(SpecModel):
    """A small penalty that grows over the last tokens before the maximum length. Right and wrong answers pay the
    same."""

    model_config = method_doc(
        "Magistral length penalty",
        "0 if n ≤ n_max − c; −f · (n − n_max + c) / c if n_max − c < n ≤ n_max; −f beyond. f = 0.1",
        "Magistral (arXiv 2506.10910), §2.2.3",
    )
    advice: ClassVar[Advice] = Advice(
        "A gentle warning before the maximum length.",
        LENGTH,
    )
    type: Literal["magistral"] = "magistral"
    buffer: int = field(ge=1, unit="tokens")
    """c (the paper's l_cache): length of the ramp before the maximum length."""
    factor: float = field(0.1, gt=0.0, le=100.0, steer="group_dispatch")
    """f: the penalty at the maximum length."""


class L1ExactLength(SpecModel):
    """The completion should have a given length, stated in the prompt. Every token above or below it costs."""

    model_config = method_doc(
        "L1, exact length",
        "r = r_correct − α · |n_target − n|",
        "L1 (arXiv 2503.04697), §3, LCPO-Exact",
    )
    advice: ClassVar[Advice] = Advice(
        "The length should be set by the prompt.",
        LENGTH,
    )
    type: Literal["l1_exact"] = "l1_exact"
    target: PerPromptTokens = SampledTokens(min=100, max=4000, tell=" Think for {tokens} tokens.")
    """n_target: the requested length."""
    alpha: float = field(0.0003, gt=0.0, le=1.0, steer="group_dispatch")
    """α: cost of each token off the target."""


class L1MaxLength(SpecModel):
    """The completion should stay below a given length, stated in the prompt; a short one is worth a little more. The
    factor applies to right answers: a wrong one gets the reward of its definition, however short.
    """

    model_config = method_doc(
        "L1, maximum length",
        "r = r_correct · clip(α · (n_target − n) + δ, 0, 1) for right answers",
        "L1 (arXiv 2503.04697), §3, LCPO-Max",
    )
    advice: ClassVar[Advice] = Advice(
        "A maximum length should be set by the prompt.",
        LENGTH,
    )
    type: Literal["l1_max"] = "l1_max"
    target: PerPromptTokens = SampledTokens(min=100, max=4000, tell=" Think for maximum {tokens} tokens.")
    """n_target: the length that must not be exceeded."""
    alpha: float = field(0.0003, gt=0.0, le=1.0, steer="group_dispatch")
    """α: slope of the factor in the length."""
    delta: float = field(0.5, ge=0.0, le=1.0, steer="group_dispatch")
    """δ: the factor exactly at the target; above 0, a right answer slightly too long beats a wrong one."""


class GRPOLambdaLength(SpecModel):
    """Length counts only where the policy is already good: in the groups of a batch with the highest pass rates.

    Elsewhere the reward is unchanged, so that hard prompts are not answered too briefly.
    """

    model_config = method_doc(
        "GRPO-λ",
        "−α · σ((n − mean(n_right)) / std(n_right)) for right answers of the ⌈λ · G⌉ groups with most right answers",
        "Stable RL for Efficient Reasoning (arXiv 2505.18086), batch-wise top-λ selection",
    )
    advice: ClassVar[Advice] = Advice(
        "Shorten only what the policy already masters.",
        LENGTH,
    )
    type: Literal["grpo_lambda"] = "grpo_lambda"
    share: float = field(0.2, gt=0.0, le=1.0, unit="share", steer="group_dispatch", widget="slider")
    """λ: share of the batch's groups in which length counts."""
    min_pass_rate: float = field(0.0, ge=0.0, le=1.0, unit="share", steer="group_dispatch", widget="slider")
    """A group must reach this pass rate as well, regardless of the other groups. The paper has no floor: 0."""
    alpha: float = field(0.2, gt=0.0, le=100.0, steer="group_dispatch")
    """α: largest penalty. An answer many standard deviations longer than the others approaches it."""


class DifficultyAwareLength(SpecModel):
    """A ramp before the maximum length that is lowered for right answers to hard prompts.

    Wrong answers pay ``failure_scale`` of it, and truncated answers all of it.
    """

    model_config = method_doc(
        "Difficulty-aware length penalty",
        "−f · s · clip((n − n_max + c) / c, 0, 1); s = p^γ if right, s_fail if wrong, 1 if cut off; p: pass rate",
        "Apriel-Reasoner (arXiv 2604.02007); its authors' code in PipelineRL",
    )
    advice: ClassVar[Advice] = Advice(
        "Shorten easy answers, but not hard ones.",
        LENGTH,
    )
    type: Literal["difficulty_aware"] = "difficulty_aware"
    buffer: int = field(ge=1, unit="tokens")
    """c: length of the ramp before the maximum length."""
    factor: float = field(1.0, gt=0.0, le=100.0, steer="group_dispatch")
    """f: the full penalty at the maximum length."""
    gamma: float = field(1.0, ge=0.0, le=10.0, steer="group_dispatch")
    """γ: how fast the penalty falls with the pass rate; 0 makes it the same for all prompts."""
    failure_scale: float = field(1.0, ge=0.0, le=1.0, steer="group_dispatch")
    """s_fail: share of the penalty that wrong answers pay."""


class KimiLength(SpecModel):
    """Short answers are worth more than long ones of their group; a wrong answer is never rewarded for being short. The
    paper turns it on later, because it slows early training down: keep ``weight`` at 0 until then.
    """

    model_config = method_doc(
        "Kimi length reward",
        "λ_i = 1/2 − (n_i − n_min) / (n_max − n_min) over the group; w·λ_i if right, w·min(0, λ_i) if wrong; 0 where "
        "n_min = n_max",
        "Kimi k1.5 (arXiv 2501.12599), §2.3.3, length penalty",
    )
    advice: ClassVar[Advice] = Advice(
        "Answers grow without becoming better, and no sufficient length is known.",
        LENGTH,
    )
    type: Literal["kimi"] = "kimi"
    weight: float = field(1.0, ge=0.0, le=100.0, steer="group_dispatch")
    """w: weight relative to the reward of the answer; the paper does not publish it. 0 turns the length reward off."""


class DecoupledLength(SpecModel):
    """Short right answers are reinforced more, long ones less; none is ever penalised for its length. The reward is
    unchanged. After the advantages are known, those of the right answers of a group are multiplied by weights of mean 1
    that fall with the length: a length reward inside the group could turn them negative. This is the positive side of
    DRPO; its discriminative loss against wrong answers is replaced by the run's own advantage.
    """

    model_config = method_doc(
        "DRPO decoupled length reward",
        "A_i ← A_i · n₊ · e^(l_i/λ) / Σ₊ e^(l_j/λ), l_i = 1 − n_i / n_max, over right answers with A > 0",
        "DRPO (arXiv 2510.04474), closed form of the distribution of right answers; its authors' code",
    )
    advice: ClassVar[Advice] = Advice(
        "Shorten without ever penalising a right answer.",
        LENGTH,
    )
    type: Literal["decoupled"] = "decoupled"
    temperature: float = field(0.1, gt=0.0, le=100.0, steer="group_dispatch")
    """λ: the smaller, the more the shortest right answers outweigh the others."""


LengthShaping = Annotated[
    MagistralLength
    | L1ExactLength
    | L1MaxLength
    | GRPOLambdaLength
    | DifficultyAwareLength
    | KimiLength
    | DecoupledLength,
    Field(discriminator="type"),
]
