"""Identities at a provider as they are stored."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from dressage.common.models import PrefixedModel


class ExternalIdentity(PrefixedModel):
    """A person as the provider knows them."""

    id_prefix: ClassVar[str] = "ext"

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    issuer = models.TextField()
    subject = models.TextField()
    """Id of the person at the provider, which is never reused."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["issuer", "subject"], name="one_account_per_identity")]
