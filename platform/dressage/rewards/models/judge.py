"""Judge endpoints: an OpenAI-compatible URL, or a policy that the cluster serves itself."""

from typing import ClassVar

from django.db import models

from dressage.common.models import TeamModel


class JudgeEndpoint(TeamModel):
    """A judge of a team. Definitions refer to it by its slug."""

    id_prefix: ClassVar[str] = "judge"

    slug = models.CharField(max_length=63)
    name = models.CharField(max_length=120)
    base_url = models.CharField(max_length=500, blank=True)
    """URL of the API including its version, such as ``https://host/v1``; empty if ``policy`` is served instead."""
    policy = models.CharField(max_length=63, blank=True)
    """Slug of the team's policy that the cluster serves with vLLM."""
    model = models.CharField(max_length=200)
    api_key_sealed = models.TextField(blank=True)
    """The encrypted key; see ``dressage.common.sealing``. Empty if there is none."""
    max_in_flight = models.PositiveIntegerField(default=32)
    timeout_s = models.FloatField(default=60.0)
    retries = models.PositiveIntegerField(default=3)
    price_prompt = models.FloatField(null=True)
    """Price per million prompt tokens; null if unknown."""
    price_completion = models.FloatField(null=True)
    """Price per million completion tokens; null if unknown."""
    created_by = models.CharField(max_length=300)

    class Meta:
        indexes = [models.Index(fields=["team", "created_at", "id"], name="judge_page")]
        constraints = [
            models.UniqueConstraint(fields=["team", "slug"], name="one_judge_per_slug"),
            models.CheckConstraint(
                condition=models.Q(base_url="", policy__gt="") | models.Q(base_url__gt="", policy=""),
                name="judge_has_an_address_or_a_policy",
            ),
        ]

    @property
    def has_key(self) -> bool:
        """Whether a key is stored. The key itself is never shown."""
        return bool(self.api_key_sealed)
