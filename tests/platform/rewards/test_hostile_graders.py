"""Graders that never end, tried by one team in a real web process, while another team works."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import psutil
import pytest
from django.db import connection

from dressage.common.actors import Actor
from dressage.common.roles import Role
from dressage.rewards.grading import GRADE, MOST_PER_TEAM, PROCESSES
from dressage.teams.models import Team
from tests.platform.tokens import token_of
from tests.support.installation import end_with_parent, free_port, wait_until
from tests.support.packages import ROOT, install

ABOUT = ("platform/dressage/rewards", "trainer_core/rewards")
ANSWER_S = 2.0
"""Longest time that 95 of 100 requests of another team may take meanwhile: one may meet a pause of the machine."""
MODULE = '''
import time
from pathlib import Path
from typing import Literal

from trainer_core.rewards.grader_model import GraderModel


class EndlessGrader(GraderModel):
    """Never ends, in one call of a C function, so that no other thread of its process gets a turn."""

    type: Literal["endless"] = "endless"

    def grade(self, sample, item):
        return float(sum(range(10**13)))


class HeldGrader(GraderModel):
    """Waits for the file ``until``."""

    type: Literal["held"] = "held"
    until: str

    def grade(self, sample, item):
        Path(self.until + ".begun").touch()
        while not Path(self.until).exists():
            time.sleep(0.02)
        return 1.0
'''
ENDLESS = {"components": [{"name": "slow", "grader": {"type": "endless"}}]}
EXACT = {"components": [{"name": "right", "grader": {"type": "exact"}}]}
SAMPLE = {"output_text": "24", "item": {"answer": "24"}}
TOLD = f"slow: the endless grader used more than {GRADE.cpu_s:g} s of processor time and was ended"
LATE = (
    f"slow: the endless grader did not end within {GRADE.wall_s:g} s and was stopped; "
    f"it may use {GRADE.cpu_s:g} s of processor time: the machine is too busy, or the grader waits"
)
"""Graders stand back behind all else: on a machine that computes for others, the wall limit comes first."""


class Web:
    """A web process of its own on the test's database."""

    def __init__(self, site: Path) -> None:
        self.port = free_port()
        database = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{connection.settings_dict['NAME']}").geturl()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "uvicorn", "dressage.asgi:application", "--port", str(self.port)],
            env={
                **os.environ,
                "DATABASE_URL": database,
                "PYTHONPATH": os.pathsep.join(map(str, (site, ROOT, ROOT / "platform"))),
                "DRESSAGE_PORT": str(self.port),
            },
            preexec_fn=end_with_parent,
        )
        self.watched = psutil.Process(self.process.pid)

    def client(self, team: Team, actor: Actor) -> httpx.Client:
        _, secret = token_of(team, Role.EDITOR)
        headers = {"Authorization": f"Bearer {secret}"}
        return httpx.Client(base_url=f"http://127.0.0.1:{self.port}/api/v1", headers=headers, timeout=120.0)

    def graders(self) -> set[int]:
        """Processes that grade, by id: the children of the template."""
        templates = self.watched.children()
        return {child.pid for template in templates for child in template.children()}

    def is_up(self) -> bool:
        try:
            return httpx.get(f"http://127.0.0.1:{self.port}/api/v1/schema?format=json").status_code > 0
        except httpx.TransportError:
            return False


@pytest.fixture
def web(transactional_db: None, tmp_path: Path) -> Iterator[Web]:
    graders = {"endless": "endless:EndlessGrader", "held": "endless:HeldGrader"}
    install(tmp_path, "endless", {"endless.py": MODULE}, {"dressage.graders": graders})
    made = Web(tmp_path)
    wait_until(made.is_up, 120)
    yield made
    made.process.terminate()
    made.process.wait(30)


def attempt(client: httpx.Client, definition: Any = ENDLESS) -> httpx.Response:
    return client.post("/rewards/try", json={"definition": definition, "samples": [SAMPLE]})


def at_once(count: int, work: Callable[[], Any]) -> tuple[list[threading.Thread], list[Any]]:
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(work()), daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    return threads, found


@pytest.mark.expensive(20, "starts a web process", about=ABOUT)
def test_graders_that_do_not_end_yet_stall_no_other_team(web: Web, tmp_path: Path) -> None:
    """All requests of one team wait, or hold processes, while another team's are answered."""
    actor = Actor("user", "usr_test", "test@example.com")
    teams = [Team.objects.create(name=name.title(), slug=name) for name in ("greedy", "modest")]
    greedy, modest = (web.client(team, actor) for team in teams)
    assert attempt(modest, EXACT).json()["results"][0]["reward"] == 1.0
    until = tmp_path / "until"
    held = {"components": [{"name": "held", "grader": {"type": "held", "until": str(until)}}]}
    threads, found = at_once(2 * MOST_PER_TEAM, lambda: attempt(greedy, held))
    wait_until(until.with_name("until.begun").exists, 30)
    for _ in range(3):
        assert modest.get("/rewards").status_code == 200
        assert attempt(modest, EXACT).json()["results"][0]["reward"] == 1.0
    assert found == [] and all(thread.is_alive() for thread in threads)
    until.touch()
    for thread in threads:
        thread.join()
    assert [response.json()["results"][0]["reward"] for response in found] == [1.0] * len(threads)
    assert len(web.graders()) <= PROCESSES


@pytest.mark.loud
@pytest.mark.timed
@pytest.mark.expensive(30, "graders that compute without end", about=ABOUT)
def test_one_teams_endless_graders_stall_nobody_and_leave_nothing_behind(web: Web) -> None:
    actor = Actor("user", "usr_test", "test@example.com")
    teams = [Team.objects.create(name=name.title(), slug=name) for name in ("greedy", "modest")]
    greedy, modest = (web.client(team, actor) for team in teams)
    assert attempt(modest, EXACT).json()["results"][0]["reward"] == 1.0
    before, memory = web.graders(), web.watched.memory_info().rss
    threads, found = at_once(2 * MOST_PER_TEAM, lambda: attempt(greedy))
    seen: set[int] = set()
    taken: list[float] = []
    while any(thread.is_alive() for thread in threads):
        seen |= web.graders()
        for work in (lambda: modest.get("/rewards"), lambda: attempt(modest, EXACT)):
            started = time.monotonic()
            response = work()
            taken.append(time.monotonic() - started)
            assert response.status_code == 200
        assert response.json()["results"][0]["reward"] == 1.0
    assert len(found) == len(threads)
    # Where the machine computes for others, those before take so long that the turn of these may not come in time.
    waited = [response for response in found if response.status_code == 503]
    assert all(one.json()["error"]["code"] == "graders_busy" and one.headers["Retry-After"] for one in waited)
    results = [response.json()["results"][0] for response in found if response not in waited]
    assert len(results) >= MOST_PER_TEAM and (not waited or LATE in [result["error"] for result in results])
    for result in results:
        assert (result["reward"], result["parts"]) == (None, {}) and result["error"] in (TOLD, LATE)
        assert result["explanation"]["slow"]["reason"] == f"Failed: {result['error'].removeprefix('slow: ')}"
    assert len(taken) > 10 and sorted(taken)[len(taken) * 95 // 100] < ANSWER_S
    assert len(seen - before) >= MOST_PER_TEAM, "each of the endless ones had a process"
    wait_until(lambda: len(web.graders()) <= PROCESSES, 30)
    left = web.graders()
    assert all(psutil.Process(pid).cpu_percent(0.2) < 50.0 for pid in left), "none computes any more"
    assert web.watched.memory_info().rss - memory < 32 << 20
    graders = [psutil.Process(pid) for pid in left]
    web.process.terminate()
    web.process.wait(30)
    wait_until(lambda: not any(process.is_running() for process in graders), 30)


@pytest.mark.expensive(18, "starts a web process", about=ABOUT)
def test_a_web_process_that_is_killed_takes_its_graders_along(web: Web) -> None:
    team = Team.objects.create(name="Greedy", slug="greedy")
    client = web.client(team, Actor("user", "usr_test", "test@example.com"))
    assert attempt(client, EXACT).json()["results"][0]["reward"] == 1.0
    processes = web.watched.children(recursive=True)
    assert len(processes) == 2, "the template and one grader"
    web.process.kill()
    web.process.wait(30)
    wait_until(lambda: not any(process.is_running() for process in processes), 30)
