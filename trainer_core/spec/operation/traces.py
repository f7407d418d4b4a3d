"""Rule by which a run's rollouts are kept with one value per token."""

from trainer_core.spec.base import SpecModel, field


class Traces(SpecModel):
    """Retained rollouts: every group of the newest steps, then some groups of each earlier one, within a budget of
    bytes. The retained groups are the best and the worst of those whose rewards differ, the one on which engine and
    learner disagree most, and others spread over the batch, with dead groups in proportion."""

    full_steps: int = field(20, ge=0, le=100_000, unit="steps")
    """Newest steps of which every group is retained; 0 retains only the sample."""
    groups_per_step: int = field(4, ge=1, le=256, unit="groups")
    """Groups of each earlier step that are retained."""
    max_mib: int = field(512, ge=0, le=1_048_576, unit="MiB")
    """Maximum size of the files. Above it the oldest steps lose first their other groups, then the retained ones; 0
    writes no files, and only the texts of the retained groups are stored."""
