"""A password is compared as it was sent: not trimmed, cut or folded."""

from collections.abc import Callable

import pytest
from rest_framework.test import APIClient

from dressage.teams.models import User
from tests.platform.teams.test_session import sign_in

LONG = " Ünter den Linden, " + "x1y2" * 251 + " "
"""As long as one may be."""


@pytest.mark.parametrize(
    ("given", "status"), [(LONG, 200), (LONG.strip(), 401), (LONG.lower(), 401), (LONG[:-1], 401), (LONG + " ", 422)]
)
def test_a_password_counts_sign_by_sign(make_user: Callable[..., User], given: str, status: int) -> None:
    user = make_user()
    user.set_password(LONG)
    user.save()
    answer = sign_in(APIClient(enforce_csrf_checks=True), user.email, given)
    assert answer.status_code == status  # type: ignore[attr-defined]
