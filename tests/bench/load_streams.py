"""Browsers that watch: a storm of reconnects, 200 watchers of a run, slow readers, and a long day.

    python tests/bench/load_streams.py [watchers] [seconds] [rounds]

One web process serves all of it. The clients run on the same cores, and so may whatever else the machine does.
"""

import asyncio
import contextlib
import json
import sys
import time
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import psutil
from websockets.asyncio.client import ClientConnection, connect

from tests.bench.load_client import Connection, percentile, request
from tests.bench.load_reads import ask
from tests.bench.load_setup import Cost, web
from tests.bench.report import Figure, show
from tests.bench.telemetry_setup import platform, running_run, sync_bodies

WATCHERS, SECONDS, ROUNDS = 200, 20, 60
STORM = 500
SLOW = 20
"""Watchers beside the others who open a stream and never read it."""
SILENCE_S, AFTER_S = 30.0, 2.0
"""Silence after which a watcher gives up, and time for which it reads on after the last step."""
METRICS = 60
READERS, READS_PER_ROUND, STREAMS_PER_ROUND = 10, 300, 30
"""One round of the long day: 60 of them are what a team of ten does to the platform in 24 hours."""
HOST = "http://127.0.0.1:8600"


@dataclass
class Lags:
    """Seconds from the moment when a step was sent until each watcher had it."""

    sent: dict[int, float] = field(default_factory=dict)
    seen: list[float] = field(default_factory=list)
    missing: int = 0
    doubled: int = 0
    disordered: int = 0


def sessions(team: Any, people: int) -> list[str]:
    """Cookies of as many signed-in people."""
    from django.test import Client

    from dressage.common.roles import Role
    from dressage.teams.models import Membership, User

    found = []
    for number in range(people):
        person = User.objects.create(email=f"watcher-{number}@example.com")
        Membership.objects.create(team=team, user=person, role=Role.VIEWER)
        browser = Client()
        browser.force_login(person)
        found.append(f"sessionid={browser.cookies['sessionid'].value}")
    return found


async def watch(port: int, run: str, cookie: str) -> ClientConnection:
    """Open a stream as a browser does that shows the console."""
    url = f"ws://127.0.0.1:{port}/ws/v1/runs/{run}"
    return await connect(url, origin=HOST, additional_headers={"Cookie": cookie}, open_timeout=60)  # type: ignore[arg-type]


async def storm(port: int, run: str, cookies: list[str]) -> list[Figure]:
    """``STORM`` browsers connect in the same moment."""
    began = time.perf_counter()

    async def reconnect(number: int) -> float:
        async with await watch(port, run, cookies[number % len(cookies)]) as socket:
            frame = json.loads(await asyncio.wait_for(socket.recv(), 60))
            assert frame["type"] == "events"
            return time.perf_counter() - began

    found = await asyncio.gather(*(reconnect(number) for number in range(STORM)), return_exceptions=True)
    times = [one for one in found if isinstance(one, float)]
    return [
        Figure(f"{STORM} reconnects at once, lost", STORM - len(times), "", "0"),
        Figure("until the last one has its first frame", max(times), "s"),
    ]


async def follow(socket: ClientConnection, steps: range, lags: Lags) -> None:
    """Note the lag of each step, and what never came, came twice or came after a later one."""
    came: list[int] = []
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(None) as end:
            while True:
                frame = json.loads(await asyncio.wait_for(socket.recv(), SILENCE_S))
                now = time.perf_counter()
                new = [event["step"] for event in frame.get("events", ()) if event["kind"] == "step"]
                lags.seen += [now - lags.sent[step] for step in new if step not in came]
                came += new
                if steps[-1] in came and end.when() is None:
                    end.reschedule(asyncio.get_running_loop().time() + AFTER_S)  # what comes twice may come last
    lags.missing += len(set(steps) - set(came))
    lags.doubled += len(came) - len(set(came))
    lags.disordered += sum(later < earlier for earlier, later in pairwise(came))


async def train(port: int, run: Any, steps: range, bodies: list[bytes], lags: Lags) -> None:
    """One step a second, as a worker sends them."""
    from dressage.runs.tokens import link_token

    headers = {"Authorization": f"Bearer {link_token(run.id, 1)}", "Content-Type": "application/json"}
    connection = await Connection.open(port)
    for step in steps:
        lags.sent[step] = time.perf_counter()
        status, answer = await connection.ask(
            request("POST", f"/api/v1/link/runs/{run.id}/sync", headers, bodies[step - 1])
        )
        assert status == 200, answer
        await asyncio.sleep(max(0.0, lags.sent[step] + 1 - time.perf_counter()))
    connection.close()


async def watchers(port: int, server: psutil.Process, run: Any, cookies: list[str], seconds: int) -> list[Figure]:
    """All watch a run that trains; then the same beside some who never read."""
    figures, bodies = [], sync_bodies(2 * seconds, METRICS, 1)
    for first, slow, name in ((1, 0, ""), (seconds + 1, SLOW, f", beside {SLOW} who never read")):
        lags = Lags()
        sockets = await asyncio.gather(*(watch(port, run.id, cookie) for cookie in cookies))
        # The first frame says what has been seen: what comes from now on must reach everybody.
        await asyncio.gather(*(socket.recv() for socket in sockets))
        idle = [await deaf(port, run.id, cookies[number]) for number in range(slow)]
        cost = Cost(server)
        steps = range(first, first + seconds)
        following = [asyncio.create_task(follow(socket, steps, lags)) for socket in sockets]
        await train(port, run, steps, bodies, lags)
        await asyncio.gather(*following)
        passed, web_s, database_s = cost.taken()
        for writer in idle:
            writer.close()
        await asyncio.gather(*(socket.close() for socket in sockets))
        figures += [
            Figure(f"{len(cookies)} watchers, p95 lag{name}", percentile(lags.seen, 0.95), "s", "< 1"),
            Figure(f"events missing{name}", lags.missing, "", "0"),
            Figure(f"events doubled or out of order{name}", lags.doubled + lags.disordered, "", "0"),
            Figure(f"share of one core, web{name}", 100 * web_s / passed, "%", "< 40"),
            Figure(f"share of one core, database{name}", 100 * database_s / passed, "%"),
        ]
    return figures


async def deaf(port: int, run: str, cookie: str) -> asyncio.StreamWriter:
    """A stream that is opened and never read."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
    lines = ("Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", f"Cookie: {cookie}")
    key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
    head = "\r\n".join((f"GET /ws/v1/runs/{run}?after=0 HTTP/1.1", "Host: 127.0.0.1", f"Origin: {HOST}", key, *lines))
    writer.write(f"{head}\r\n\r\n".encode())
    assert b"101" in await reader.readline()
    return writer


async def day(port: int, server: psutil.Process, run: Any, cookies: list[str], rounds: int) -> list[Figure]:
    """Reads by several at once, and streams, for as many rounds; the memory after the first fifth and at the end."""
    sizes = []
    keys = ",".join(f"group/metric_{number}" for number in range(8))
    of_run = [f"/runs/{run.id}{path}" for path in ("", "/events", "/metrics/names", f"/metrics?keys={keys}")]
    paths = [f"/api/v1{path}" for path in ("/runs", "/session", "/spec/schema", *of_run)]

    async def read(cookie: str) -> None:
        connection = await Connection.open(port)
        for turn in range(READS_PER_ROUND // READERS):
            headers = {"Cookie": cookie, "Accept-Encoding": "gzip"}
            await ask(connection, paths[turn % len(paths)], headers)
        connection.close()

    async def look(cookie: str) -> None:
        async with await watch(port, run.id, cookie) as socket:
            await socket.recv()

    for number in range(rounds):
        await asyncio.gather(*(read(cookie) for cookie in cookies[:READERS]))
        await asyncio.gather(*(look(cookie) for cookie in cookies[:STREAMS_PER_ROUND]))
        sizes.append(server.memory_info().rss / 2**20)
        if number % 10 == 9:
            print(f"  round {number + 1}: {sizes[-1]:.1f} MB", flush=True)
    warm = max(1, rounds // 5)
    return [
        Figure(f"memory after {warm} of {rounds} rounds", sizes[warm - 1], "MB"),
        Figure("growth until the end", sizes[-1] - sizes[warm - 1], "MB", "< 8"),
    ]


def main() -> None:
    """Print the figures."""
    given = [int(text) for text in sys.argv[1:]]
    people, seconds, rounds = (*given, *(WATCHERS, SECONDS, ROUNDS)[len(given) :])
    with platform():
        run = running_run()
        cookies = sessions(run.team, people)
        with web(1) as (port, server):
            show("A storm of reconnects", asyncio.run(storm(port, run.id, cookies)))
            show("Watchers of a running run", asyncio.run(watchers(port, server, run, cookies, seconds)))
            show("A long day", asyncio.run(day(port, server, run, cookies, rounds)))


if __name__ == "__main__":
    main()
