"""Policy that is trained."""

from typing import Literal

from trainer_core.spec.base import SpecModel, field
from trainer_core.spec.learner.adapter import Adapter, NoAdapter
from trainer_core.spec.learner.routing import Routing


class Policy(SpecModel):
    """The base policy of the run."""

    base: str = field(widget="policy", min_length=1, max_length=200)
    """Name of a registered base policy of the team (a Hugging Face folder with safetensors weights)."""
    adapter: Adapter = NoAdapter()
    """Whether all weights are trained or a small adapter next to them."""
    dtype: Literal["float32", "bfloat16"] = "float32"
    """Number type of the learner's weights and activations. ``bfloat16`` halves their memory; AdamW steps float32
    masters of the trained weights, and the gradients of micro-batches add up in float32, as in mixed-precision training
    (arXiv 1710.03740). This holds at every ZeRO stage; stage 1 then partitions the gradients as 2 does. An adapter
    stays in float32 without ZeRO, and has float32 masters with it. The output layer always sums in float32."""
    gradient_checkpointing: bool = False
    """Recompute activations in the backward pass: less memory, about a third more compute."""
    routing: Routing = Routing()
    """How a mixture of experts routes tokens while it is trained."""
    activation_offload: bool = False
    """Keep what the backward pass needs in host memory until then: fewer activations on the accelerator, at the cost of
    two copies. Refused on a CPU, where they already are."""
