"""``manage.py end_sessions``: signs people out everywhere."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from dressage.teams.models import User
from dressage.teams.sessions.life import end_all_sessions


class Command(BaseCommand):
    """Ends the sessions of one person, or of everyone. Accounts, passwords and API tokens are unchanged."""

    help = "End the sessions of one or all users immediately; their streams close within two seconds."

    def add_arguments(self, parser: ArgumentParser) -> None:
        whose = parser.add_mutually_exclusive_group(required=True)
        whose.add_argument("--email")
        whose.add_argument("--everybody", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        users = User.objects.all()
        if not options["everybody"]:
            email = options["email"].strip().lower()
            users = users.filter(email=email)
            if not users:
                raise CommandError(f"There is no account {email}.")
        ended = sum(end_all_sessions(user) for user in users.iterator())
        self.stderr.write(f"{ended} session{'' if ended == 1 else 's'} ended.")
