"""``manage.py remove_second_factors``: access for someone who has lost both the app and the recovery codes."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from dressage.teams.models import User
from dressage.teams.two_factor.services import forget_second_factors


class Command(BaseCommand):
    """Removes all second factors of an account. Verify who requests it: afterwards the password alone is enough."""

    help = "Remove all second factors of an account whose owner has lost them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--email", required=True)

    def handle(self, *args: Any, **options: Any) -> None:
        email = options["email"].strip().lower()
        user = User.objects.filter(email=email).first()
        if user is None:
            raise CommandError(f"There is no account {email}.")
        had = forget_second_factors(user, by="remove_second_factors")
        self.stdout.write(f"{email} has no second factor {'any more' if had else '; there was none'}.")
