"""Rewards and their immutable versions."""

from typing import ClassVar

from django.db import models

from dressage.common.models import PrefixedModel, TeamModel, TeamQuerySet


class Reward(TeamModel):
    """A named series of definitions."""

    id_prefix: ClassVar[str] = "rwd"

    slug = models.CharField(max_length=63)
    name = models.CharField(max_length=120)
    created_by = models.CharField(max_length=300)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "slug"], name="one_reward_per_slug")]
        indexes = [models.Index(fields=["team", "created_at", "id"], name="reward_page")]

    @property
    def latest_version(self) -> "RewardVersion":
        """The newest version. Every reward has one, since both are created together."""
        return max(self.versions.all(), key=lambda version: version.number)


class RewardVersion(PrefixedModel):
    """One definition with its judges, never changed."""

    id_prefix: ClassVar[str] = "rwv"
    team_path: ClassVar[str] = "reward__team"

    reward = models.ForeignKey(Reward, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    definition = models.JSONField()
    """A ``trainer_core.rewards.RewardDefinition`` as JSON."""
    judges = models.JSONField(null=True)
    """What its judges were when it was made, by slug (``judges.records.JudgeRecord``). Null, or without a slug: not
    recorded yet."""
    note = models.CharField(max_length=2000, blank=True)
    created_by = models.CharField(max_length=300)

    objects = TeamQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["reward", "number"], name="one_reward_version_per_number")]
        ordering = ["number"]

    @property
    def ref(self) -> str:
        """Its reference in specs: ``slug@number``."""
        return f"{self.reward.slug}@{self.number}"
