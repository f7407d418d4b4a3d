"""Identifiers."""

import re

import pytest
from django.db import connection

from dressage.common.ids import new_id
from dressage.teams.models import Team


def test_shape() -> None:
    assert re.fullmatch(r"run_[A-Za-z0-9]{22}", new_id("run"))


def test_no_two_are_the_same() -> None:
    assert len({new_id("x") for _ in range(10_000)}) == 10_000


def test_rows_get_one_before_they_are_saved() -> None:
    assert re.fullmatch(r"team_[A-Za-z0-9]{22}", Team(name="A", slug="a").id)


def test_a_given_id_stays() -> None:
    assert Team(id="team_x").id == "team_x"


@pytest.mark.django_db
def test_saving_is_one_statement(django_assert_num_queries: object) -> None:
    with django_assert_num_queries(1):  # type: ignore[operator]
        Team.objects.create(name="A", slug="a")


@pytest.mark.django_db
def test_bulk_create_gives_ids() -> None:
    made = Team.objects.bulk_create([Team(name=str(n), slug=str(n)) for n in range(3)])
    assert len({team.id for team in made}) == 3
    assert connection.vendor == "postgresql"
