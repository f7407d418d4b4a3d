"""Fixtures of the tests that walk all operations."""

from collections.abc import Callable
from typing import Any

import pytest

from dressage.common.actors import Actor
from dressage.teams.models import Membership, Team
from tests.platform.common.population import populate


@pytest.fixture
def ids(team: Team, actor: Actor, make_user: Callable[..., Any]) -> dict[str, str]:
    """Ids of what the team has: one of each thing."""
    make_user("admin")
    return populate(team, actor, Membership.objects.get(user=make_user("viewer")))
