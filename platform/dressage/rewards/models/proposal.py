"""Items that a run proposes for a rubric, stored with their origin until a person decides."""

from typing import ClassVar

from django.db import models

from dressage.common.models import PrefixedModel, TeamQuerySet
from dressage.rewards.models.reward import Reward, RewardVersion


class ProposalState(models.TextChoices):
    """State of a proposal."""

    PROPOSED = "proposed", "Proposed: waits for a person"
    ACCEPTED = "accepted", "Accepted: a version of the reward has it"
    RETIRED = "retired", "Retired"


class RubricProposal(PrefixedModel):
    """One proposed item, found by contrasting two rollouts of one prompt."""

    id_prefix: ClassVar[str] = "prop"
    team_path: ClassVar[str] = "reward__team"

    reward = models.ForeignKey(Reward, on_delete=models.CASCADE, related_name="proposals")
    reward_version = models.ForeignKey(RewardVersion, on_delete=models.CASCADE, related_name="+")
    """Reward version that scored the rollouts."""
    run = models.ForeignKey("runs.Run", on_delete=models.SET_NULL, null=True, related_name="+")
    attempt = models.PositiveIntegerField()
    step = models.PositiveIntegerField()
    component = models.CharField(max_length=63)
    """Name of the component of the definition whose rubric would get the item."""
    name = models.CharField(max_length=200)
    description = models.TextField()
    weight = models.FloatField()
    prompt_id = models.CharField(max_length=120)
    prompt_text = models.TextField()
    better = models.TextField()
    worse = models.TextField()
    better_reward = models.FloatField(null=True)
    worse_reward = models.FloatField(null=True)
    reason = models.TextField(blank=True)
    state = models.CharField(max_length=16, choices=ProposalState.choices, default=ProposalState.PROPOSED)
    decided_by = models.CharField(max_length=300, blank=True)
    decided_at = models.DateTimeField(null=True)
    note = models.CharField(max_length=2000, blank=True)
    accepted_version = models.ForeignKey(RewardVersion, on_delete=models.SET_NULL, null=True, related_name="+")
    """The version that was created with the item."""
    accepted_name = models.CharField(max_length=200, blank=True)
    """The item's name in that version, since people may edit it."""

    objects = TeamQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["reward", "state", "created_at"], name="proposal_reward_state"),
            models.Index(fields=["reward", "created_at", "id"], name="proposal_page"),
        ]
