"""Choice of the weights that are trained: all of them, or a small adapter beside each matrix."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from trainer_core.spec.base import Advice, SpecModel, field, method_doc


class NoAdapter(SpecModel):
    """Every weight is trained."""

    type: Literal["none"] = "none"


class LoRAAdapter(SpecModel):
    """A product of two thin matrices next to each linear layer is trained, and the policy's own weights are frozen.

    The reference policy is the policy with its adapter switched off: no second copy, unless ``kl.reference`` means
    other weights than the run starts from. Engines and checkpoints get the sum of both. There is no dropout: it would
    make two passes over the same weights differ, and with them the ratios. Experts stored in one joint tensor are
    frozen too.
    """

    model_config = method_doc(
        "LoRA",
        "W' = W + s·B·A with A of rank × inputs, B of outputs × rank and 0 at first; s = alpha / rank, "
        "with use_rslora alpha / √rank",
        "LoRA (arXiv 2106.09685), §4.1; rsLoRA (arXiv 2312.03732)",
    )
    advice: ClassVar[Advice] = Advice(
        "When the moments of all weights do not fit, or a small change is enough. Its step size is about ten times that"
        " of full training.",
        ("critic/score/mean", "actor/grad_norm", "actor/entropy"),
    )
    type: Literal["lora"] = "lora"
    rank: int = field(16, ge=1, le=4096)
    """Rows of A and columns of B."""
    alpha: int = field(32, ge=1, le=65_536)
    """Weight of the adapter before it is divided by the rank, or its root."""
    target_modules: tuple[Annotated[str, Field(min_length=1, max_length=200)], ...] = field((), max_length=64)
    """Names of the linear layers that get one, such as ``q_proj``; never the output layer. Empty: all of them."""
    use_rslora: bool = False
    """Divide by the root of the rank: the size of an update then does not shrink as the rank grows."""


Adapter = Annotated[NoAdapter | LoRAAdapter, Field(discriminator="type")]
