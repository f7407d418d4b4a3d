"""Places and the sweep of rehearsals: one at a time, lost workers, limits, and what is forgotten."""

from collections.abc import Callable
from typing import Any

from django.test import TestCase
from rest_framework.test import APIClient

from dressage.jobs.tasks import sweep_jobs
from dressage.rehearsals.models import Rehearsal
from tests.platform.jobs import age
from tests.platform.rehearsals.fixtures import RehearsalWorker, report
from trainer_core.link.admission import SCHEME, proof
from trainer_core.link.jobs import REHEARSAL

Start = Callable[..., Any]


def sweep() -> None:
    with TestCase.captureOnCommitCallbacks(execute=True):
        sweep_jobs()


def state(rehearsal: str) -> tuple[str, str | None]:
    found = Rehearsal.objects.get(pk=rehearsal)
    return found.state, found.error


def test_one_is_held_at_a_time_and_the_next_follows(start: Start, read: Any, enqueued: list[str]) -> None:
    first, second, third = (start()["id"] for _ in range(3))
    assert [read(one)["ahead"] for one in (first, second, third)] == [0, 1, 2]
    sweep()
    assert enqueued == [], "the first was enqueued with its place, a moment ago; the others have none"
    worker = RehearsalWorker(first)
    worker.take()
    sweep()
    assert enqueued == []
    worker.answer(report=report(1.0, 0.0))
    sweep()
    assert enqueued == [second]
    assert [read(one)["ahead"] for one in (second, third)] == [0, 1]


def test_a_cancelled_one_makes_room(start: Start, api: Callable[..., APIClient], enqueued: list[str]) -> None:
    first, second = start()["id"], start()["id"]
    assert api("editor").post(f"/api/v1/rehearsals/{first}/cancel").status_code == 202
    sweep()
    assert enqueued == [second]


def test_the_token_is_given_to_who_has_a_place_and_waits(start: Start, settings: Any) -> None:
    first, second = start()["id"], start()["id"]

    def ask(rehearsal: str, status: int) -> Any:
        path = REHEARSAL.token_address(rehearsal)
        given = proof(settings.CLUSTER_SECRET, settings.LINK_URL, path)
        response = APIClient(headers={"Authorization": f"{SCHEME} {given}"}).post(path)
        assert response.status_code == status, response.content
        return response.json()

    token = ask(first, 200)["token"]
    assert ask(second, 409)["error"]["code"] == "no_place"
    RehearsalWorker(first, token).take()
    assert ask(first, 409)["error"]["code"] == "token_taken"
    ask("rhs_unknown", 404)
    assert APIClient(headers={"Authorization": f"{SCHEME} 00"}).post(REHEARSAL.token_address(second)).status_code == 401


def test_a_lost_message_is_sent_again(start: Start, enqueued: list[str]) -> None:
    made = start()["id"]
    age(Rehearsal, made, rung_at=11)
    sweep()
    sweep()
    assert enqueued == [made]


def test_a_lost_worker_is_replaced_once(start: Start, enqueued: list[str]) -> None:
    made = start()["id"]
    for _ in range(2):
        RehearsalWorker(made).take()
        age(Rehearsal, made, lease_expires_at=1)
        sweep()
    expected = "2 workers were lost while they ran it: the cluster may lack the memory for its engine."
    assert state(made) == ("failed", expected)
    assert enqueued == [made]
    RehearsalWorker(made).take(409)


def test_one_that_nobody_takes_fails(start: Start) -> None:
    made = start()["id"]
    age(Rehearsal, made, placed_at=301)
    sweep()
    assert state(made) == ("failed", "No worker of the cluster has taken the dry run within 5 minutes: is it running?")


def test_one_that_waits_for_its_place_does_not_fail(start: Start) -> None:
    _, second = start()["id"], start()["id"]
    age(Rehearsal, second, created_at=3600)
    sweep()
    assert state(second) == ("queued", None)


def test_a_worker_that_hangs_has_its_limit(start: Start) -> None:
    made = start()["id"]
    RehearsalWorker(made).take()
    age(Rehearsal, made, started_at=661)
    sweep()
    expected = "The dry run did not finish within 10 minutes. Use fewer prompts or shorter answers."
    assert state(made) == ("failed", expected)
    RehearsalWorker(made).renew(409)


def test_old_ones_are_forgotten(start: Start) -> None:
    old, kept = start()["id"], start()["id"]
    Rehearsal.objects.update(state="done")
    age(Rehearsal, old, created_at=7 * 86_400 + 60)
    age(Rehearsal, kept, created_at=6 * 86_400)
    sweep()
    assert list(Rehearsal.objects.values_list("id", flat=True)) == [kept]
