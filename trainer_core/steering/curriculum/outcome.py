"""Outcomes of groups, as the curriculum counts them."""

from dataclasses import dataclass

from trainer_core.episodes import Group
from trainer_core.rewards.outcomes import succeeded


@dataclass(frozen=True, slots=True)
class GroupOutcome:
    """Outcome of one returned group."""

    prompt_id: str
    """``<source>:<row index>``."""
    step: int
    """Step for which it was drawn."""
    right: int
    """Successful samples."""
    graded: int
    """Samples whose reward could be computed; 0 if all have failed."""
    reward: float
    """Sum of their rewards."""
    completions: int
    tokens: int
    """Tokens of all completions."""

    @property
    def source(self) -> str:
        """The source of the prompt."""
        return self.prompt_id.rpartition(":")[0]


def outcome(group: Group) -> GroupOutcome:
    """The outcome of a scored group."""
    verdicts = [succeeded(t, group.success_threshold) for t in group.trajectories]
    known = [verdict for verdict in verdicts if verdict is not None]
    rewards = [t.reward for t in group.trajectories if t.reward is not None and t.verdict.error is None]
    return GroupOutcome(
        prompt_id=group.prompt_id,
        step=int(group.group_id.partition("-")[0]),
        right=sum(known),
        graded=len(known),
        reward=float(sum(rewards)),
        completions=len(group.trajectories),
        tokens=sum(t.length for t in group.trajectories),
    )
