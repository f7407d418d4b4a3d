"""Weight of the entropy bonus over the steps of a run. Its state is part of a checkpoint."""

from trainer_core.methods.entropy_weight import entropy_weight
from trainer_core.spec import RunSpec
from trainer_core.spec.methods.entropy import AdaptiveEntropyBonus, FixedEntropyBonus


class EntropyControl:
    """Control of one rank. It is the same on every rank, because it sees the entropy over all of them."""

    def __init__(self, spec: RunSpec) -> None:
        """Start from the weight in ``spec``."""
        self.held = spec.entropy.start if isinstance(spec.entropy, AdaptiveEntropyBonus) else 0.0
        """c_k of the next step."""
        self._following = self.held
        self._acting = 0.0

    def weight(self, spec: RunSpec) -> float:
        """Weight α of the entropy in the loss of the current step."""
        match spec.entropy:
            case FixedEntropyBonus(coefficient=coefficient):
                return coefficient
            case AdaptiveEntropyBonus():
                return self._acting
        return 0.0

    def look(self, spec: RunSpec, entropy: float | None) -> None:
        """Choose a step's weight from the policy's entropy before it; None if no token was scored."""
        if isinstance(spec.entropy, AdaptiveEntropyBonus) and entropy is not None:
            self._acting, self._following = entropy_weight(spec.entropy, self.held, entropy)
        else:
            self._acting, self._following = 0.0, self.held

    def close(self) -> None:
        """Move on to the next step after the current one has been taken."""
        self.held = self._following
