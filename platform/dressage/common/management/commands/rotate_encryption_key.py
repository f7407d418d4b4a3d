"""``manage.py rotate_encryption_key``: encrypts the secrets of teams under a new key."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from dressage.common.sealing import rotate


class Command(BaseCommand):
    """Seals every stored secret under a new key while the installation is running. See docs/security.md."""

    help = (
        "Create a new encryption key, encrypt every stored secret with it and delete the old one. With"
        " DRESSAGE_ENCRYPTION_KEYS set: encrypt every stored secret with the first of these keys."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        done = rotate()
        under = "the first of DRESSAGE_ENCRYPTION_KEYS" if settings.ENCRYPTION_KEYS else "a new key"
        self.stdout.write(f"{done.count} secrets are encrypted with {under}.")
        if done.unreadable:
            names = ", ".join(done.unreadable)
            raise CommandError(f"No key decrypts these, so the old keys are kept. Enter them again: {names}.")
        if settings.ENCRYPTION_KEYS:
            self.stdout.write("The other keys of DRESSAGE_ENCRYPTION_KEYS are needed only for earlier backups.")
