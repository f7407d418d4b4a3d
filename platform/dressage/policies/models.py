"""Base policies: Hugging Face folders that runs start from."""

from typing import ClassVar

from django.db import models

from dressage.common.models import TeamModel


class Policy(TeamModel):
    """A registered folder, with the facts read from it. The folder itself is never written to."""

    id_prefix: ClassVar[str] = "pol"

    slug = models.CharField(max_length=63)
    name = models.CharField(max_length=120)
    path = models.CharField(max_length=1000)
    """Folder with links followed. Only admins are shown it."""
    run = models.CharField(max_length=40, null=True)
    """The team's run in whose folder it lies, as up to November 2026 policies could be registered."""
    checkpoint = models.CharField(max_length=40, null=True)
    """The team's checkpoint whose weights it has."""
    architecture = models.CharField(max_length=120)
    parameters = models.PositiveBigIntegerField()
    vocab_size = models.PositiveIntegerField()
    max_position_embeddings = models.PositiveIntegerField()
    bytes = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    created_by = models.CharField(max_length=300)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["team", "slug"], name="one_policy_per_slug")]
        indexes = [models.Index(fields=["team", "created_at", "id"], name="policy_page")]
