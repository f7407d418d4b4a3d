"""One place, two teams: a paused run gives the place back, the other team's trains in it, and the first goes on."""

from secrets import token_hex

import pytest

from tests.support.installation import PASSWORD, Api, Installation, wait_until
from tests.support.live_run import ENDED, LiveRun, small_spec
from tests.support.rows import rows

pytestmark = [pytest.mark.chaos, pytest.mark.live, pytest.mark.timeout(420)]

STEPS = 16
MAKE_SECOND_TEAM = """
import os
from django.core.management import call_command
from dressage.supervisor.management.commands import demo
os.environ["DRESSAGE_ADMIN_EMAIL"], demo.TEAM = {email!r}, "Second"
call_command("demo", no_run=True)
"""


@pytest.mark.expensive(
    130,
    "three starts of a run, and a second team",
    about=("worker", "platform/dressage/runs", "platform/dressage/clusters", "trainer_core/link"),
)
def test_a_paused_run_lets_another_team_train_and_loses_nothing(installation: Installation) -> None:
    email = f"second-{token_hex(3)}@example.com"
    installation.shell(MAKE_SECOND_TEAM.format(email=email))
    second = Api(installation.url)
    second.sign_in(email, PASSWORD)

    own = LiveRun.start(installation, "gives its place back", small_spec(installation.api, STEPS))
    own.reach(1)
    with own.held():  # so that the run does not end before it hears that it is to pause
        own.api.post(f"/runs/{own.id}/pause")
        _hears_of_it(own)
    theirs = LiveRun.start(installation, "waits for it", small_spec(second, 2), second)
    stood = own.wait_for("paused")["step"]
    assert theirs.now()["state_reason"] == (
        "Waiting for a slot: 1 of 1 taken by 1 run of other teams; 1st in your queue."
    )
    own.api.post(f"/runs/{own.id}/release")
    suspended = own.wait_for("suspended")
    assert (suspended["step"], suspended["pause"]["has_place"]) == (stood, False)
    assert suspended["last_checkpoint"]["step"] == stood
    assert theirs.wait_for(*ENDED)["state"] == "succeeded", theirs.story()

    own.api.post(f"/runs/{own.id}/resume")
    ended = own.wait_for(*ENDED)
    assert (ended["state"], ended["step"], ended["attempt"]) == ("succeeded", STEPS, 2), ended["state_reason"]
    series = own.series("critic/score/mean")
    assert (series["x"], series["raw_count"]) == (list(range(1, STEPS + 1)), STEPS)
    told = own.api.get(f"/runs/{own.id}/events", kind="step", limit=200)["data"]
    assert sorted(event["step"] for event in told) == list(range(1, STEPS + 1)), "each step was learned once"


def _hears_of_it(run: LiveRun) -> None:
    """Wait until the run's worker has the answer of a sync that began after this was called."""

    def last_sync() -> object:
        [(found,)] = rows(run.installation, "SELECT last_sync_at FROM runs_attempt WHERE run_id = %s", run.id)
        return found

    syncs = {last_sync()}

    def answered() -> bool:
        syncs.add(last_sync())
        return len(syncs) > 3  # one may have begun before, and of the last the answer may be on its way

    wait_until(answered, 60, run.story)
