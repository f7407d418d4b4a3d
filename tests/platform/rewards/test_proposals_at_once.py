"""Two runs that propose the same item in the same moment."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from dressage.rewards.models import RewardVersion, RubricProposal
from dressage.rewards.proposals.services import store_proposals
from dressage.runs.models import Run
from tests.platform.locks import another_waits
from tests.support.installation import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
FOUND = {
    "name": "shows work", "description": "Shows its work.", "weight": 2.0, "prompt_id": "add:0", "prompt_text": "1+1=",
    "better": "1+1 is 2", "worse": "2", "better_reward": 1.0, "worse_reward": 0.5, "reason": "It explains.",
}  # fmt: skip


def test_it_is_kept_once(make_run: Callable[..., Run]) -> None:
    first, second = make_run("first"), make_run("second")
    version = RewardVersion.objects.get(reward__slug="exact", number=1)

    def propose(run: Run) -> int:
        return len(store_proposals(run, version, attempt=1, step=4, component="quality", found=[FOUND]))

    def elsewhere() -> int:
        try:
            return propose(second)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as thread:
        with transaction.atomic():
            assert propose(first) == 1
            other = thread.submit(elsewhere)
            wait_until(lambda: other.done() or another_waits(), 20)
        assert other.result() == 0
    assert RubricProposal.objects.get().run == first
