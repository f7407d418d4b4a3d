"""Set-up of the routing in ``spec.policy.routing``, or the reason why a policy does not support it."""

from transformers import PreTrainedModel

from trainer_core.spec.learner.routing import LossFreeBalancing, NoBalancing, Routing
from trainer_core.update.hybrid.balance import Balancer
from trainer_core.update.hybrid.policy import reads_biases
from trainer_core.update.hybrid.router import allow_router_replay, routers
from trainer_core.update.hybrid.routing import experts_per_token


def prepare_routing(model: PreTrainedModel, spec: Routing, name: str) -> Balancer | None:
    """Prepare the routers of the trained policy; None if it has none.

    Raises:
        ValueError: the policy called ``name`` does not support what ``spec`` requests.
    """
    if experts_per_token(model) is None or not routers(model):
        wanted = "replay" if spec.replay else "balance" if not isinstance(spec.balance, NoBalancing) else None
        if wanted is not None:
            raise ValueError(f"policy.routing.{wanted} needs a mixture of experts: the policy {name!r} has no routers")
        return None
    if isinstance(spec.balance, LossFreeBalancing) and not reads_biases(model):
        raise ValueError(
            "policy.routing.balance = loss_free needs routers with a bias: engines have none for"
            f" {type(model).__name__} (auxiliary_loss fits every mixture of experts)"
        )
    if spec.replay:
        allow_router_replay(model)
    return Balancer(spec, model)
