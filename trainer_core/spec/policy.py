"""Which policy is trained."""

from trainer_core.spec.adapter import Adapter, NoAdapter
from trainer_core.spec.base import SpecModel, field
from trainer_core.spec.routing import Routing


class Policy(SpecModel):
    """The base policy of the run."""

    base: str = field(widget="policy", min_length=1, max_length=200)
    """Name of a registered base policy of the team (a Hugging Face folder with safetensors weights)."""
    adapter: Adapter = NoAdapter()
    """Whether all weights are trained or a small adapter beside them."""
    gradient_checkpointing: bool = False
    """Recompute activations in the backward pass: less memory, about a third more compute."""
    routing: Routing = Routing()
    """How a mixture of experts routes tokens while it is trained."""
