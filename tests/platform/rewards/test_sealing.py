"""Stored secrets: encrypted under a key outside of the database, which a command changes."""

import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet, InvalidToken
from django.apps import apps
from django.core.management import CommandError, call_command
from django.db import connection

from dressage.common import sealing
from dressage.common.actors import Actor
from dressage.common.sealing import UnsealError, rotate, seal
from dressage.rewards.judges.secrets import _former, unseal
from dressage.rewards.judges.services import create_judge_endpoint
from dressage.rewards.models import JudgeEndpoint
from dressage.teams.models import Team
from tests.support.about import PLATFORM

KEYS = {"strict": "sk-very-secret-0123456789", "mild": "sk-also-secret"}


@pytest.fixture
def key_file(settings: Any, tmp_path: Path) -> Path:
    settings.ENCRYPTION_KEY_FILE = tmp_path / "encryption-keys"
    return settings.ENCRYPTION_KEY_FILE


@pytest.fixture
def judges(key_file: Path, team: Team, actor: Actor) -> Callable[[], dict[str, str]]:
    """Two judges; tells their keys as they can be read now."""
    for slug, key in KEYS.items():
        create_judge_endpoint(team, actor, name=slug, slug=slug, base_url="http://127.0.0.1/v1", model="m", api_key=key)
    return lambda: {judge.slug: unseal(judge.api_key_sealed) for judge in JudgeEndpoint.objects.all()}


def test_nothing_in_the_database_opens_what_it_holds(judges: Any, key_file: Path) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT j::text FROM rewards_judgeendpoint j")
        rows = str(cursor.fetchall())
    assert not [key for key in KEYS.values() if key in rows]
    assert key_file.read_text() not in rows
    assert key_file.stat().st_mode & 0o077 == 0


def test_a_rotation_leaves_nothing_that_the_old_key_opens(judges: Any, key_file: Path) -> None:
    old = key_file.read_text()
    before = dict(JudgeEndpoint.objects.values_list("slug", "api_key_sealed"))
    call_command("rotate_encryption_key")
    assert judges() == KEYS
    assert old not in key_file.read_text() and len(key_file.read_text().split()) == 1
    assert key_file.stat().st_mode & 0o077 == 0
    for slug, sealed in JudgeEndpoint.objects.values_list("slug", "api_key_sealed"):
        assert sealed != before[slug]
        with pytest.raises(InvalidToken):
            Fernet(old).decrypt(sealed)
    with pytest.raises(UnsealError):
        unseal(before["strict"])


def test_a_key_that_cannot_be_read_keeps_the_old_ones(judges: Any, key_file: Path) -> None:
    JudgeEndpoint.objects.filter(slug="mild").update(api_key_sealed="broken")
    old = key_file.read_text()
    with pytest.raises(CommandError, match="the key of the judge endpoint mild of the team stable"):
        call_command("rotate_encryption_key")
    assert len(key_file.read_text().split()) == 2 and old in key_file.read_text()
    assert unseal(JudgeEndpoint.objects.get(slug="strict").api_key_sealed) == KEYS["strict"]
    assert JudgeEndpoint.objects.get(slug="mild").api_key_sealed == "broken"


def test_a_rotation_that_fails_loses_nothing(judges: Any, key_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> Any:
        raise RuntimeError("the disk is full")

    monkeypatch.setattr(sealing, "_ROOMS", [*sealing._ROOMS, fail])
    with pytest.raises(RuntimeError):
        rotate()
    assert judges() == KEYS


def test_keys_of_the_environment_are_changed_there(judges: Any, key_file: Path, settings: Any) -> None:
    old, new = key_file.read_text(), Fernet.generate_key().decode()
    settings.ENCRYPTION_KEYS = (new, old)
    assert judges() == KEYS
    call_command("rotate_encryption_key")
    settings.ENCRYPTION_KEYS = (new,)
    assert judges() == KEYS
    assert key_file.read_text() == old, "the file is not what counts"


def test_the_migration_seals_what_was_sealed_with_the_django_secret(judges: Any, settings: Any) -> None:
    for judge in JudgeEndpoint.objects.all():
        judge.api_key_sealed = _former(settings.SECRET_KEY).encrypt(KEYS[judge.slug].encode()).decode()
        judge.save()
    JudgeEndpoint.objects.filter(slug="mild").update(api_key_sealed="broken")
    import_module("dressage.rewards.migrations.0003_seal_keys_anew").seal_anew(apps, None)
    settings.SECRET_KEY = "another-secret"
    assert unseal(JudgeEndpoint.objects.get(slug="strict").api_key_sealed) == KEYS["strict"]
    assert JudgeEndpoint.objects.get(slug="mild").api_key_sealed == "broken"


@pytest.mark.expensive(2, "walks over many requests", about=PLATFORM)
@pytest.mark.django_db
def test_processes_that_start_together_share_one_key(key_file: Path) -> None:
    readers = []
    for _ in range(8):
        read, write = os.pipe()
        if os.fork() == 0:
            os.write(write, sealing._keys()[0].encode())
            os._exit(0)
        os.close(write)
        readers.append(read)
    assert {os.read(read, 1000).decode() for read in readers} == {key_file.read_text()}
    for read in readers:
        os.close(read)
        os.wait()
    assert [path.name for path in key_file.parent.iterdir()] == [key_file.name]
    assert seal("x")


def test_two_rotations_at_once_lose_no_key(judges: Any, key_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second comes between what the first seals and what it forgets."""
    forget = sealing._forget_all_but

    def forget_late(key: str) -> None:
        monkeypatch.setattr(sealing, "_forget_all_but", forget)
        rotate()
        forget(key)

    monkeypatch.setattr(sealing, "_forget_all_but", forget_late)
    rotate()
    assert judges() == KEYS
    assert len(key_file.read_text().split()) == 1
