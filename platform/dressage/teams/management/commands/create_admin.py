"""``manage.py create_admin``: creates the first account."""

import os
import secrets
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.hashers import make_password
from django.core.management.base import BaseCommand
from django.db import transaction
from django.utils.text import slugify

from dressage.common.actors import Actor
from dressage.common.roles import Role
from dressage.teams.accounts.services import hold_address, make_account, replace_account
from dressage.teams.models import Team, User
from dressage.teams.services import add_member, change_role, create_team

PASSWORD_VARIABLE = "DRESSAGE_ADMIN_PASSWORD"  # nosec B105


class Command(BaseCommand):
    """Creates a team and its admin, or gives an existing admin a new one-time password. Prints the password once."""

    help = (
        "Create an admin of a team (both are created if missing) and print a new one-time password. With"
        f" {PASSWORD_VARIABLE} set, that password is used and none is printed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--email", required=True)
        parser.add_argument("--team", default="Demo", help="name of the team")

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        actor, email = Actor.system("create_admin"), options["email"].strip().lower()
        slug = slugify(options["team"])[:63] or "team"
        team = Team.objects.filter(slug=slug).first() or create_team(actor, name=options["team"], slug=slug)
        given = os.environ.get(PASSWORD_VARIABLE)
        password = given or secrets.token_urlsafe(12)
        user = _account(actor, email, make_password(password))
        user.password_is_temporary = given is None
        user.save(update_fields=["password_is_temporary"])
        membership = add_member(team, actor, user, Role.ADMIN)
        if membership.role != Role.ADMIN:
            change_role(team, actor, membership, Role.ADMIN)
        if given is None:
            self.stdout.write(password)
        self.stderr.write(f"{email} is admin of {team.name}.")


def _account(actor: Actor, email: str, password_hash: str) -> User:
    """The account of that address, with that password. The operator of the installation vouches for the address."""
    hold_address(email)
    user = User.objects.filter(email=email).first()
    if user is None:
        return make_account(email, password_hash, proven=True)
    if not user.address_proven:
        reason = "The operator of the installation created another account for the address."
        return replace_account(
            user, actor, reason, password_hash=password_hash, name="", proven=True, keeps_teams=False
        )
    user.password = password_hash
    user.save(update_fields=["password"])
    return user
