"""Second factors as they are stored."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from dressage.common.models import PrefixedModel


class Authenticator(PrefixedModel):
    """An authenticator app of a person. It counts after a first code has confirmed it."""

    id_prefix: ClassVar[str] = "otp"

    user = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    secret_sealed = models.TextField()
    """The key of the codes, as ``dressage.common.sealing`` encrypts it."""
    last_step = models.BigIntegerField(default=0)
    """The 30-second step, counted from 1970, whose code was used last. Codes of this step or earlier are refused."""
    confirmed_at = models.DateTimeField(null=True)


class RecoveryCode(PrefixedModel):
    """A code that replaces a second factor once. Only its SHA-256 is stored."""

    id_prefix: ClassVar[str] = "rec"

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    sha256 = models.CharField(max_length=64)
    used_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "sha256"], name="one_recovery_code_of_a_kind")]


class Passkey(PrefixedModel):
    """A WebAuthn credential. The public key is stored here; the private key never leaves the device."""

    id_prefix: ClassVar[str] = "psk"

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    name = models.CharField(max_length=80)
    credential_id = models.TextField(unique=True)
    """Id assigned by the device, in base64url."""
    public_key = models.BinaryField()
    sign_count = models.BigIntegerField()
    """Signatures that the device has counted; always 0 if it does not count."""
    last_used_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["user", "created_at", "id"], name="passkeys_of_a_user")]
