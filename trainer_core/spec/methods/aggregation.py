"""Aggregations: how token losses become one number."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from trainer_core.spec.base import Advice, field, method_doc
from trainer_core.spec.methods.kinds import MethodModel


class TokenMean(MethodModel):
    """Every token counts the same."""

    model_config = method_doc("Token mean", "Σ_t L_t / Σ_t 1", "DAPO (arXiv 2503.14476), eq. 12")
    advice: ClassVar[Advice] = Advice(
        "The default: no completion is diluted.",
        ("response_length/mean", "actor/pg_loss"),
    )
    type: Literal["token_mean"] = "token_mean"


class SequenceMean(MethodModel):
    """Every completion counts the same: long ones are diluted."""

    model_config = method_doc("Sequence mean", "mean_i (Σ_t L_it / |o_i|)", "DeepSeekMath (arXiv 2402.03300), eq. 3")
    advice: ClassVar[Advice] = Advice(
        "The original GRPO, and GSPO. Long wrong answers are punished less per token.",
        ("response_length/mean", "actor/pg_loss"),
    )
    type: Literal["sequence_mean"] = "sequence_mean"


class PromptMean(MethodModel):
    """Every prompt counts the same, and within a prompt every token of all its completions.

    A prompt that is drawn twice in a step counts once.
    """

    model_config = method_doc(
        "Prompt mean", "mean_q (Σ_i Σ_t L_qit / Σ_i |o_qi|)", "ScaleRL (arXiv 2510.13786), loss aggregation"
    )
    advice: ClassVar[Advice] = Advice(
        "When prompts with long answers would otherwise dominate the batch.",
        ("response_length/mean", "actor/pg_loss"),
    )
    type: Literal["prompt_mean"] = "prompt_mean"


class ConstantNormaliser(MethodModel):
    """Every token counts the same, however long its completion and the others are."""

    model_config = method_doc(
        "Constant normaliser", "mean_i (Σ_t L_it) / divisor", "Understanding R1-Zero-like training (arXiv 2503.20783)"
    )
    advice: ClassVar[Advice] = Advice(
        "With Dr. GRPO: the weight of a token depends on no length at all.",
        ("response_length/mean", "actor/pg_loss"),
    )
    type: Literal["constant"] = "constant"
    divisor: int = field(128, ge=1, le=1_048_576, unit="tokens")
    """Divisor of a completion's token sum; Dr. GRPO uses the length of the longest completion."""


class SampleAndTokenMean(MethodModel):
    """Between the sequence mean and the token mean: dampens the weight of long completions without removing it."""

    model_config = method_doc(
        "Sample- and token-level",
        "token_share · Σ_t L_t / Σ_t 1 + (1 − token_share) · mean_i (Σ_t L_it / |o_i|)",
        "MiniMax-M1 (arXiv 2506.13585), §5, which names the combination; the share is ours",
    )
    advice: ClassVar[Advice] = Advice(
        "Between token and sequence mean.",
        ("response_length/mean", "actor/pg_loss"),
    )
    type: Literal["sample_and_token"] = "sample_and_token"
    token_share: float = field(0.5, ge=0.0, le=1.0, unit="share")
    """Weight of the token mean; the sequence mean has the rest."""


Aggregation = Annotated[
    TokenMean | SequenceMean | PromptMean | ConstantNormaliser | SampleAndTokenMean, Field(discriminator="type")
]
