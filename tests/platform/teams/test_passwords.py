"""Rules of new passwords."""

import pytest

from dressage.common.api.problems import Problem
from dressage.teams.models import Membership, Team, User
from dressage.teams.passwords.rules import check_new_password

LITTLE = "This password is too similar to your address, your name or that of a team."
SHORT = "This password is too short. It must contain at least 12 characters."
PLAIN = "This password has fewer than 5 different characters."
RUN = "This password is a plain sequence of characters."


@pytest.fixture
def person(team: Team) -> User:
    user = User.objects.create_user("rosa.klein@example.com", "correct horse battery", name="Rosa Klein")
    Membership.objects.create(team=team, user=user, role="viewer")
    return user


@pytest.mark.parametrize(
    ("password", "faults"),
    [
        ("rosa.klein@example.com", {LITTLE}),
        ("Rosa-Klein-2026!", {LITTLE}),
        ("stablestable", {LITTLE}),
        ("Dressage2026!", {LITTLE}),
        ("the rivals 1", {LITTLE}),
        ("elevenchars", {SHORT}),
        ("aaaabbbbccccdddd", {PLAIN}),
        ("7a7a7a", {SHORT, PLAIN}),
        ("123456789012345", {RUN}),
        ("abcdefghijklmnop", {RUN}),
        ("zyxwvutsrqponm", {RUN}),
        ("correct horse battery", {"The new password equals the old one."}),
        ("startfinding", {"This password is too common."}),
    ],
)
def test_weak_passwords(person: User, other_team: Team, password: str, faults: set[str]) -> None:
    with pytest.raises(Problem) as refusal:
        check_new_password(person, password, other_team)
    assert {fault["detail"] for fault in refusal.value.errors} == faults
    assert (refusal.value.status, refusal.value.code) == (422, "weak_password")


@pytest.mark.parametrize(
    "password",
    ["rosa rides tall horses", "пароль-из-слов", "🐎🐎🐎🐎 over 4 fences", "x" * 900 + "abcdefgh", "aB3$ aB3$ aB3$x"],
)
def test_strong_passwords(person: User, password: str) -> None:
    """Any signs, any length, no classes of signs."""
    check_new_password(person, password)
