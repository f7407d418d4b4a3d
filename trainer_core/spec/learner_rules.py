"""Rules on what the learner keeps beside the policy: critic, reference, proximal policy."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from trainer_core.spec.adapter import LoRAAdapter
from trainer_core.spec.critic import GAEAdvantage
from trainer_core.spec.filters import ZeroAdvantageFilter

if TYPE_CHECKING:
    from trainer_core.spec.run import RunSpec

Path = tuple[str | int, ...]


def critic(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    """An advantage without its critic, a critic that nobody asks, a run that is all warm-up."""
    asked = isinstance(spec.advantage, GAEAdvantage)
    if asked and spec.critic is None:
        yield ("critic",), "gae takes its values from a critic: choose critic.type = head or separate"
    if spec.critic is None:
        return
    if not asked:
        yield ("critic",), f"the advantage {spec.advantage.type} asks no critic: take it out, or choose gae"
    if spec.critic.warmup_steps >= spec.schedule.steps:
        yield ("critic", "warmup_steps"), "the policy would never be trained: the warm-up is as long as the run"


def reference(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    """A schedule for a reference that does not exist, or cannot change."""
    if spec.kl.reset_steps is not None and spec.kl.coefficient == 0.0:
        yield ("kl", "reset_steps"), "without a KL penalty there is no reference policy to renew"
    if spec.kl.reset_steps is not None and isinstance(spec.policy.adapter, LoRAAdapter):
        yield (
            ("kl", "reset_steps"),
            "under an adapter the reference is the policy's own resting weights, which nothing renews: train all "
            "weights (policy.adapter = none), or take reset_steps out",
        )


def teacher(spec: "RunSpec") -> Iterator[tuple[Path, str]]:
    """A teacher whose groups are thrown away for their rewards."""
    if spec.distillation is None or not spec.distillation.alone:
        return
    for index, chosen in enumerate(spec.filters):
        if isinstance(chosen, ZeroAdvantageFilter):
            yield (
                ("filters", index),
                "the teacher alone trains: groups of equal rewards teach as much as others, take zero_advantage out",
            )
    if spec.critic is not None:
        yield ("critic",), "the teacher alone trains: no loss asks the critic"
