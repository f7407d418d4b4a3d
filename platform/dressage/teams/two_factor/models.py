"""Second factors as they are stored."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from dressage.common.models import PrefixedModel


class Authenticator(PrefixedModel):
    """An authenticator app of a person. It counts once it is confirmed by a first code."""

    id_prefix: ClassVar[str] = "otp"

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    secret_sealed = models.TextField()
    """The key of the codes, as ``dressage.common.sealing`` encrypts it."""
    last_step = models.BigIntegerField(default=0)
    """The 30 seconds, counted from 1970, whose code was used last. No code of then or before is taken again."""
    confirmed_at = models.DateTimeField(null=True)


class RecoveryCode(PrefixedModel):
    """A code that stands in for a second factor once. Only its SHA-256 is stored."""

    id_prefix: ClassVar[str] = "rec"

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    sha256 = models.CharField(max_length=64)
    used_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "sha256"], name="one_recovery_code_of_a_kind")]


class Passkey(PrefixedModel):
    """A credential of WebAuthn. Of its key pair the public one is here, the private one never leaves the device."""

    id_prefix: ClassVar[str] = "psk"

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=80)
    credential_id = models.TextField(unique=True)
    """Id that the device has given it, in base64url."""
    public_key = models.BinaryField()
    sign_count = models.BigIntegerField()
    """Signatures that the device has counted; 0 for ever where it counts none."""
    last_used_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["user", "created_at", "id"], name="passkeys_of_a_user")]
