"""Mixed reads per second of two web processes, with much stored; what each costs in processor time.

    python tests/bench/load_reads.py [runs] [millions of points] [seconds]

The client runs on the same cores, and so may whatever else the machine does: processor time tells more than the rate.
"""

import asyncio
import itertools
import random
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.load_client import Connection, percentile, request, timed
from tests.bench.load_setup import Cost, Stored, fill, web
from tests.bench.telemetry_setup import platform

RUNS, MILLIONS, SECONDS = 100_000, 50.0, 20.0
WEB_PROCESSES, CONNECTIONS = 2, 16
ALONE = 150
"""Requests of each kind when their cost is measured."""
SHARES = {
    "list of runs": 20,
    "list of runs, a deep page": 5,
    "run": 25,
    "events": 12,
    "chart, 8 metrics × 1000 steps": 8,
    "names of metrics": 5,
    "rollouts": 5,
    "controls": 5,
    "checkpoints": 5,
    "session": 5,
    "datasets": 5,
}
"""Kinds of reads, as a console asks for them, and their share in the mixture."""


def paths(stored: Stored, chance: random.Random) -> dict[str, str]:
    """An address of each kind."""
    run, long = chance.choice(stored.runs), chance.choice(stored.charted)
    keys = ",".join(f"group/metric_{number}" for number in range(8))
    found = {
        "list of runs": "/runs?limit=50",
        "list of runs, a deep page": f"/runs?limit=50&after={chance.choice(stored.runs[: len(stored.runs) // 4 + 60])}",
        "run": f"/runs/{run}",
        "events": f"/runs/{long}/events?limit=50",
        "chart, 8 metrics × 1000 steps": f"/runs/{long}/metrics?keys={keys}",
        "names of metrics": f"/runs/{long}/metrics/names",
        "rollouts": f"/runs/{run}/rollouts?limit=50",
        "controls": f"/runs/{run}/controls",
        "checkpoints": f"/runs/{run}/checkpoints",
        "session": "/session",
        "datasets": "/datasets",
    }
    return {kind: f"/api/v1{path}" for kind, path in found.items()}


def callers(team: Any) -> list[dict[str, str]]:
    """Headers of those who ask: three people in browsers, and a program with a token."""
    from django.test import Client

    from dressage.common.actors import Actor
    from dressage.common.roles import Role
    from dressage.teams.models import Membership, User
    from dressage.teams.service_accounts import create_service_account
    from dressage.teams.tokens import create_token

    found = []
    for number in range(3):
        person = User.objects.create(email=f"reader-{number}@example.com")
        Membership.objects.create(team=team, user=person, role=Role.VIEWER)
        browser = Client()
        browser.force_login(person)
        found.append({"Cookie": f"sessionid={browser.cookies['sessionid'].value}"})
    bench = Actor.system("bench")
    account = create_service_account(team, bench, name="reader", role=Role.VIEWER)
    _, secret = create_token(team, bench, name="reader", role=Role.VIEWER, owner=account)
    return [*found, {"Authorization": f"Bearer {secret}"}]


async def ask(connection: Connection, path: str, headers: dict[str, str]) -> float:
    """Seconds of one read, which must succeed."""

    async def once() -> None:
        status, body = await connection.ask(request("GET", path, headers))
        assert status == 200, (path, status, body[:500])

    return await timed(once)


async def alone(port: int, stored: Stored, headers: list[dict[str, str]], server: Any) -> None:
    """Print what a read of each kind costs."""
    connection = await Connection.open(port)
    chance, turns = random.Random(1), itertools.cycle(headers)
    for kind in SHARES:
        for _ in range(20):
            await ask(connection, paths(stored, chance)[kind], next(turns))
        cost = Cost(server)
        times = [await ask(connection, paths(stored, chance)[kind], next(turns)) for _ in range(ALONE)]
        _, web_s, database_s = cost.taken()
        costs = f"web {1000 * web_s / ALONE:5.1f} ms, database {1000 * database_s / ALONE:5.1f} ms of processor time"
        print(f"{kind:<32} {costs}; {1000 * percentile(times, 0.5):6.1f} ms median", flush=True)
    connection.close()


async def mixed(port: int, stored: Stored, headers: list[dict[str, str]], seconds: float) -> list[float]:
    """Durations of all reads that ``CONNECTIONS`` clients get done, each asking again as soon as it is answered."""
    end, times = time.perf_counter() + seconds, list[float]()

    async def client(number: int) -> None:
        connection, chance = await Connection.open(port), random.Random(number)
        while time.perf_counter() < end:
            [kind] = chance.choices(list(SHARES), list(SHARES.values()))
            times.append(await ask(connection, paths(stored, chance)[kind], headers[number % len(headers)]))
        connection.close()

    await asyncio.gather(*(client(number) for number in range(CONNECTIONS)))
    return times


def main() -> None:
    """Print the figures."""
    given = [float(text) for text in sys.argv[1:]]
    runs, millions, seconds = (*given, *(RUNS, MILLIONS, SECONDS)[len(given) :])
    with platform():
        began = time.perf_counter()
        stored = fill(int(runs), int(millions * 1e6))
        print(f"reads: {len(stored.runs):,} runs and {stored.points:,} points stored", end="")
        print(f" in {time.perf_counter() - began:.0f} s", flush=True)
        headers = callers(stored.team)
        with web(WEB_PROCESSES) as (port, server):
            asyncio.run(alone(port, stored, headers, server))
            cost = Cost(server)
            times = asyncio.run(mixed(port, stored, headers, seconds))
            passed, web_s, database_s = cost.taken()
    rate = len(times) / passed
    print(
        f"mixed: {rate:.0f} reads/s (target 400), p50 {1000 * percentile(times, 0.5):.0f} ms, "
        f"p95 {1000 * percentile(times, 0.95):.0f} ms (target 100); of processor time each: "
        f"web {1000 * web_s / len(times):.1f} ms (target 4), database {1000 * database_s / len(times):.1f} ms"
    )


if __name__ == "__main__":
    main()
