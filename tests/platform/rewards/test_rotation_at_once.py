"""A rotation of the encryption keys while judges are changed and used."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, connections
from django.test.utils import CaptureQueriesContext

from dressage.common import sealing
from dressage.common.actors import Actor
from dressage.common.sealing import Resealed, rotate
from dressage.rewards.judges import selectors
from dressage.rewards.judges.secrets import unseal
from dressage.rewards.judges.services import create_judge_endpoint, update_judge_endpoint
from dressage.rewards.models import JudgeEndpoint
from dressage.teams.models import Team
from tests.platform.locks import another_waits
from tests.support.installation import wait_until


@pytest.fixture(autouse=True)
def key_file(settings: Any, tmp_path: Path) -> Path:
    settings.ENCRYPTION_KEY_FILE = tmp_path / "encryption-keys"
    return settings.ENCRYPTION_KEY_FILE


def create(team: Team, actor: Actor) -> JudgeEndpoint:
    return create_judge_endpoint(
        team, actor, name="strict", slug="strict", base_url="http://127.0.0.1/v1", model="m", api_key="old"
    )


def in_thread(act: Callable[[], object], failed: list[BaseException]) -> threading.Thread:
    def run() -> None:
        try:
            act()
        except BaseException as error:
            failed.append(error)
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


@pytest.mark.django_db(transaction=True)
def test_a_change_and_a_rotation_wait_for_each_other_without_a_deadlock(
    team: Team, actor: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = create(team, actor)
    inside, go_on, failed = threading.Event(), threading.Event(), list[BaseException]()

    def pause() -> Resealed:
        inside.set()
        assert go_on.wait(20)
        return Resealed()

    monkeypatch.setattr(sealing, "_ROOMS", [pause, *sealing._ROOMS])
    threads = [in_thread(rotate, failed)]
    assert inside.wait(20)
    threads.append(in_thread(lambda: update_judge_endpoint(team, actor, judge, {"api_key": "new"}), failed))
    try:
        wait_until(lambda: another_waits("advisory"), seconds=20, every=0.02)
    finally:
        go_on.set()
        for thread in threads:
            thread.join(20)
    assert failed == []
    assert unseal(JudgeEndpoint.objects.get().api_key_sealed) == "new"


def test_keys_are_held_before_any_row(team: Team, actor: Actor) -> None:
    with CaptureQueriesContext(connection) as first:
        judge = create(team, actor)
    with CaptureQueriesContext(connection) as second:
        update_judge_endpoint(team, actor, judge, {"name": "other"})
    for queries in (first, second):
        done = [query["sql"] for query in queries if not query["sql"].startswith("SAVEPOINT")]
        assert done[0].startswith("SELECT pg_advisory_xact_lock_shared")


def test_a_row_from_before_a_rotation_is_read_again(team: Team, actor: Actor) -> None:
    held = create(team, actor)
    rotate()
    assert selectors.unfit(held) is None
    key = selectors.for_workers(held).api_key
    assert key is not None and key.get_secret_value() == "old"


def test_a_row_that_is_gone_or_broken_is_unfit(team: Team, actor: Actor) -> None:
    held = create(team, actor)
    JudgeEndpoint.objects.update(api_key_sealed="broken")
    broken = JudgeEndpoint.objects.get()
    rotate()
    words = "The key of the judge endpoint 'strict' can no longer be read: enter it again."
    assert selectors.unfit(broken) == words
    JudgeEndpoint.objects.all().delete()
    held.api_key_sealed = "broken"
    assert selectors.unfit(held) == words
