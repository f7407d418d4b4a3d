"""Rules on the routing of a mixture of experts."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainer_core.spec.learner.adapter import LoRAAdapter
from trainer_core.spec.learner.routing import LossFreeBalancing
from trainer_core.spec.methods.corrections import RouterShiftWeighting
from trainer_core.spec.methods.proximal import EWMAProximal, SnapshotProximal

if TYPE_CHECKING:
    from trainer_core.spec.run import RunSpec

Path = tuple[str | int, ...]


def routing(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    """Router replay beside a weight for what it removes; biases that move where copies of the policy would not
    follow."""
    chosen = spec.policy.routing
    if chosen.replay and any(isinstance(one, RouterShiftWeighting) for one in spec.corrections):
        yield (
            ("policy", "routing", "replay"),
            "replayed tokens keep the engine's routes: router_shift has no shift to weight",
        )
    if not isinstance(chosen.balance, LossFreeBalancing):
        return
    path = ("policy", "routing", "balance")
    if isinstance(spec.policy.adapter, LoRAAdapter):
        yield path, "an adapter leaves the base policy unchanged, including its routers' biases: train all weights"
    if isinstance(spec.proximal, SnapshotProximal | EWMAProximal):
        yield path, f"the copy of the proximal policy {spec.proximal.type} averages weights, not biases of routers"
    if spec.kl.reset_steps is not None:
        yield path, "a reset reference policy copies weights, not biases of routers: remove kl.reset_steps"
