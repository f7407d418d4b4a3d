"""How token losses become one number."""

from typing import Annotated, Literal

from pydantic import Field

from trainer_core.spec.base import SpecModel, method_doc


class TokenMean(SpecModel):
    """Every token counts the same."""

    model_config = method_doc("Token mean", "Σ_t L_t / Σ_t 1", "DAPO (arXiv 2503.14476), eq. 12")
    type: Literal["token_mean"] = "token_mean"


class SequenceMean(SpecModel):
    """Every completion counts the same: long ones are diluted."""

    model_config = method_doc("Sequence mean", "mean_i (Σ_t L_it / |o_i|)", "DeepSeekMath (arXiv 2402.03300), eq. 3")
    type: Literal["sequence_mean"] = "sequence_mean"


Aggregation = Annotated[TokenMean | SequenceMean, Field(discriminator="type")]
