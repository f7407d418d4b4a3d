"""Rule by which a run's rollouts are kept with one value per token."""

from trainer_core.spec.base import SpecModel, field


class Traces(SpecModel):
    """Kept rollouts: every group of the newest steps, then some groups of each earlier one, within a budget of bytes.

    The groups that stay are the best and the worst of those whose rewards differ, the one on which engine and learner
    disagree most, and others spread over the batch, the dead ones by their share."""

    full_steps: int = field(20, ge=0, le=100_000, unit="steps")
    """Newest steps of which every group is kept; 0 keeps the sample alone."""
    groups_per_step: int = field(4, ge=1, le=256, unit="groups")
    """Groups of each earlier step that stay."""
    max_mib: int = field(512, ge=0, le=1_048_576, unit="MiB")
    """Most bytes of the files. Beyond it the oldest steps lose first their other groups, then those that stay; 0 writes
    no files, and the texts of the groups that stay are all that is kept."""
