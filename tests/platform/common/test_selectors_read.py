"""Reads live in ``selectors.py``: none of them writes."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from dressage.common.actors import Actor
from dressage.common.roles import Role
from dressage.config import ROOT
from dressage.teams.models import ApiToken, Team
from dressage.teams.selectors import token_of_secret
from dressage.teams.tokens import TokenRefused, use_token
from tests.platform.tokens import token_of

WRITES = {
    "save", "create", "update", "delete", "bulk_create", "bulk_update", "get_or_create", "update_or_create",
    "acreate", "asave", "aupdate", "adelete", "raw", "select_for_update",
}  # fmt: skip
SELECTORS = sorted((ROOT / "platform" / "dressage").rglob("selectors.py"))


def called_methods(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield node.func.attr, node.lineno


@pytest.mark.parametrize("path", SELECTORS, ids=lambda path: path.parent.name)
def test_no_selector_calls_what_writes(path: Path) -> None:
    assert [(name, line) for name, line in called_methods(path) if name in WRITES] == []


def test_reading_a_token_leaves_no_trace_and_using_it_does(team: Team, actor: Actor) -> None:
    token, secret = token_of(team, Role.VIEWER)
    assert token_of_secret(secret) == token
    assert ApiToken.objects.get().last_used_at is None
    assert use_token(secret) == (token, Role.VIEWER)
    noted = ApiToken.objects.get().last_used_at
    assert noted is not None
    assert use_token(secret) == (token, Role.VIEWER)
    assert ApiToken.objects.get().last_used_at == noted  # to the minute
    with pytest.raises(TokenRefused, match="unknown"):
        use_token("drs_unknown")
