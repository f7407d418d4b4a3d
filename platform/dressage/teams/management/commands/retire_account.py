"""``manage.py retire_account``: ends an account and frees its address."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from dressage.common.actors import Actor
from dressage.common.api.problems import Problem
from dressage.teams.accounts.services import retire_account
from dressage.teams.models import User


class Command(BaseCommand):
    """Ends sessions, tokens and memberships of a person who has left, or of an account that was never theirs."""

    help = "End an account with its memberships, and free its address for an invitation."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--email", required=True)

    def handle(self, *args: Any, **options: Any) -> None:
        email = options["email"].strip().lower()
        user = User.objects.filter(email=email).first()
        if user is None:
            raise CommandError(f"There is no account {email}.")
        try:
            retire_account(user, Actor.system("retire_account"), "The operator has ended the account.")
        except Problem as problem:
            detail = f"{email} is the last admin of a team. Create another first: manage.py create_admin --team …"
            raise CommandError(detail) from problem
        self.stderr.write(f"The account {email} has ended. Its address can be invited again.")
