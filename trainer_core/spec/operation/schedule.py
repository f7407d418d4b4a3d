"""Length of the run, and the cut of a step."""

from trainer_core.spec.base import SpecModel, field


class Schedule(SpecModel):
    """Steps and batch sizes."""

    steps: int = field(100, ge=1, le=10_000_000, unit="steps")
    """Training steps: one batch of groups each."""
    prompts_per_step: int = field(32, ge=1, le=65_536, unit="prompts")
    """Prompt groups per step."""
    updates_per_step: int = field(1, ge=1, le=64)
    """Optimizer updates per pass over a step's batch: the batch is split into this many minibatches."""
    epochs: int = field(1, ge=1, le=16)
    """Passes over a step's batch (PPO's epochs). From the second on, whole groups are reshuffled into minibatches by
    the run's seed. Values from before the first update (π_old, advantages, values) hold for all of them."""
    seed: int = field(0, ge=0, lt=2**31)
    """Seed of prompt order, sampling and shuffling."""

    @property
    def updates(self) -> int:
        """Optimizer updates per step, over all passes."""
        return self.updates_per_step * self.epochs
