"""``manage.py rotate_encryption_key``: encrypts the secrets of teams under a new key."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from dressage.common.sealing import rotate


class Command(BaseCommand):
    """Seals every stored secret under a new key while the installation is running. See docs/security.md."""

    help = (
        "Make a new encryption key, seal every stored secret under it and forget the old one. With "
        "DRESSAGE_ENCRYPTION_KEYS set: seal every stored secret under the first of these keys."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        done = rotate()
        under = "the first of DRESSAGE_ENCRYPTION_KEYS" if settings.ENCRYPTION_KEYS else "a new key"
        self.stdout.write(f"{done.count} secrets are sealed under {under}.")
        if done.unreadable:
            names = ", ".join(done.unreadable)
            raise CommandError(f"No key opens these, so the old keys are kept; enter them again: {names}.")
        if settings.ENCRYPTION_KEYS:
            self.stdout.write("The other keys of DRESSAGE_ENCRYPTION_KEYS are needed for backups of before alone.")
