"""Schedule of checkpoints."""

from trainer_core.spec.base import SpecModel, field


class Checkpoint(SpecModel):
    """Checkpoints: weights, optimizer, curriculum, random state: everything that a resumed run needs."""

    every_steps: int = field(10, ge=1, unit="steps")
    """Steps between two checkpoints; the last step is always saved."""
    keep_last: int = field(3, ge=1, unit="checkpoints")
    """Older checkpoints are deleted, except manual ones and those before a control. The last step's counts as one."""
    before_control: bool = True
    """Save a checkpoint before a control takes effect, so that the run can be rewound to it."""
