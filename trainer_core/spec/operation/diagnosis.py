"""Schedule of the search for the causes of what engine and learner disagree about."""

from trainer_core.spec.base import SpecModel, field


class Diagnosis(SpecModel):
    """Frozen-weight replay: some trajectories are scored again by engine and learner at the same weights, which shows
    how much of the mismatch is numerics, staleness, truncated sampling and the prompt's template."""

    every_steps: int = field(20, ge=0, unit="steps")
    """Steps between two replays; 0 turns them off."""
    trajectories: int = field(8, ge=1, le=256, unit="samples")
    """Trajectories per replay, spread over the batch."""
    max_tokens: int = field(1024, ge=1, le=1_048_576, unit="tokens")
    """Longest trajectory, prompt included, that is included: a replay holds its logits for the whole vocabulary."""
