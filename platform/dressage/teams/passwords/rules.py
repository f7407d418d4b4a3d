"""Rules for new passwords after NIST SP 800-63B: long, not common, not personal data; any characters allowed."""

import re
from collections.abc import Iterator, Sequence

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError

from dressage.common.api.errors import FieldError
from dressage.common.api.problems import Problem
from dressage.teams.models import Membership, Team, User

_SHORTEST_NAME = 4
"""Shortest name that counts: shorter ones are part of many words."""
_MIN_OWN = 8
"""Letters and digits that a password must have in addition to the names in it."""


def check_new_password(user: User, new: str, *joining: Team, pointer: str = "/new") -> None:
    """Refuse a weak password.

    Args:
        user: owner of the account; may be unsaved.
        new: the password.
        joining: teams that the person is about to join, in addition to their current ones.
        pointer: the member of the request's body that contains it.

    Raises:
        Problem: 422 that names each fault.
    """
    messages = []
    try:
        validate_password(new, user)
    except ValidationError as error:
        messages += error.messages
    if _is_little_beside(new, _names(user, joining)):
        messages.append("This password is too similar to your address, your name or that of a team.")
    if user.password and user.has_usable_password() and user.check_password(new):
        messages.append("The new password equals the old one.")
    if messages:
        faults = [FieldError(pointer=pointer, detail=message) for message in messages]
        raise Problem(422, "Invalid request", " ".join(messages), errors=faults, code="weak_password")


def _is_little_beside(password: str, names: Iterator[str]) -> bool:
    whole = rest = _letters(password)
    for name in sorted(set(names), key=len, reverse=True):
        rest = rest.replace(name, "")
    return len(rest) < min(_MIN_OWN, len(whole))


def _names(user: User, joining: Sequence[Team]) -> Iterator[str]:
    """Parts of the person's names that a stranger knows."""
    own = Team.objects.filter(id__in=Membership.objects.filter(user=user).values("team"))
    texts = ["dressage", user.email, user.name]
    texts += [text for team in (*own, *joining) for text in (team.name, team.slug)]
    for text in texts:
        for part in (text, *re.split(r"[\W_]+", text)):
            if len(_letters(part)) >= _SHORTEST_NAME:
                yield _letters(part)


def _letters(text: str) -> str:
    """Letters and digits of a text, in lower case: only these are compared."""
    return re.sub(r"[\W_]+", "", text.casefold())
