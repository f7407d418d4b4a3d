"""Syncs of many linked runs, each with a step a second of 60 metrics: their durations, and whether an event is amiss.

    python tests/bench/load_sync.py [runs] [seconds]

Two real web processes and a durable PostgreSQL; the workers' side sends what real workers would, at the pace that the
platform asks for, over a bounded number of connections.
"""

import asyncio
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.load_client import Connection, percentile, request
from tests.bench.load_setup import Cost, web
from tests.bench.telemetry_setup import platform, running_run

RUNS, SECONDS = 1000, 30.0
METRICS, STEP_S, HEARTBEAT_S = 60, 1.0, 0.5
CONNECTIONS = 64
WEB_PROCESSES = 2


def linked(count: int) -> list[tuple[str, str]]:
    """Id and link token of each of ``count`` running runs."""
    from dressage.common.secrets import secret_hash
    from dressage.runs.models import Attempt, Run
    from dressage.runs.tokens import link_token

    template = running_run()
    fields = Run.objects.filter(pk=template.pk).values().get()
    runs = Run.objects.bulk_create([Run(**{**fields, "id": f"run_{number:022}"}) for number in range(count)])
    tokens = [(run.id, link_token(run.id, 1)) for run in runs]
    Attempt.objects.bulk_create(
        [Attempt(run_id=id, number=1, token_sha256=secret_hash(token), created_at=run.created_at)
         for (id, token), run in zip(tokens, runs, strict=True)]
    )  # fmt: skip
    Run.objects.filter(pk=template.pk).update(state="cancelled")
    return tokens


class Worker:
    """The worker's side of one run: its journal, and its rhythm."""

    def __init__(self, id: str, token: str) -> None:
        self._path = f"/api/v1/link/runs/{id}/sync"
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._journal: list[tuple[int, str]] = []
        self.made = self.acked = 0
        self.pace = HEARTBEAT_S

    def learn(self) -> None:
        """Note a step."""
        self.made = step = self.made + 1
        metrics = {f"group/metric_{number}": step * 0.001 + number / 7 for number in range(METRICS)}
        data = {"metrics": metrics, "tokens_total": step * 1000, "seconds": STEP_S}
        event = {"seq": step, "kind": "step", "step": step, "at": "2026-11-22T12:00:00Z", "data": data}
        self._journal.append((step, json.dumps(event, separators=(",", ":"))))

    async def sync(self, connection: Connection) -> float:
        """Send what is not acknowledged; gives the seconds until the answer was there."""
        body = f'{{"attempt":1,"events":[{",".join(text for _, text in self._journal)}],"applied":[]}}'
        message = request("POST", self._path, self._headers, body.encode())
        began = time.perf_counter()
        status, answer = await connection.ask(message)
        seconds = time.perf_counter() - began
        assert status == 200, answer[:500]
        document = json.loads(answer)
        self.acked, self.pace = document["acked_seq"], document.get("pace_s", HEARTBEAT_S)
        self._journal = [entry for entry in self._journal if entry[0] > self.acked]
        return seconds


def every_second(worker: Any, passed: float) -> bool:
    """Whether a run that makes a step every ``STEP_S`` has made another one."""
    return bool(worker.made < passed / STEP_S)


async def train(
    port: int, workers: Sequence[Worker], seconds: float, learned: Callable[[Any, float], bool] = every_second
) -> tuple[list[float], list[float]]:
    """Durations of all syncs, and how late each began: beyond what ``CONNECTIONS`` at once allow.

    Args:
        port: the web processes' port.
        workers: the runs.
        seconds: the time that they run for.
        learned: tells whether a worker has learned another step, by the seconds since its own beginning.
    """
    free: asyncio.Queue[Connection] = asyncio.Queue()
    for _ in range(min(CONNECTIONS, len(workers))):  # the server closes those that stand idle
        free.put_nowait(await Connection.open(port))
    times, late = list[float](), list[float]()
    began = time.perf_counter()

    async def one(worker: Worker, offset: float) -> None:
        due = began + offset
        while due < began + seconds:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            while learned(worker, time.perf_counter() - began - offset):
                worker.learn()
            connection = await free.get()
            late.append(time.perf_counter() - due)
            times.append(await worker.sync(connection))
            free.put_nowait(connection)
            due = max(due + worker.pace, time.perf_counter())

    # At first all are asked to say hello, one after the other, and hear what pace is wanted.
    for worker in workers:
        connection = await free.get()
        await worker.sync(connection)
        free.put_nowait(connection)
    began = time.perf_counter()
    await asyncio.gather(*(one(worker, 5.0 * number / len(workers)) for number, worker in enumerate(workers)))
    while not free.empty():
        free.get_nowait().close()
    return times, late


def check(workers: list[Worker]) -> int:
    """Number of points. Fails where an event was lost or stored twice."""
    from django.db import connection

    acked = sum(worker.acked for worker in workers)
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*), count(DISTINCT (run_id, step)) FROM telemetry_event WHERE kind = 'step'")
        events, steps = cursor.fetchone()
        cursor.execute("SELECT count(*) FROM telemetry_point")
        [points] = cursor.fetchone()
    assert events == steps == acked, f"{events} events of {steps} steps are stored, {acked} were acknowledged"
    assert points == acked * METRICS
    return int(points)


def main() -> None:
    """Print the figures."""
    given: list[Any] = sys.argv[1:]
    count, seconds = int(given[0]) if given else RUNS, float(given[1]) if given[1:] else SECONDS
    with platform():
        workers = [Worker(*link) for link in linked(count)]
        with web(WEB_PROCESSES) as (port, server):
            cost = Cost(server)
            times, late = asyncio.run(train(port, workers, seconds))
            passed, web_s, database_s = cost.taken()
        points = check(workers)
    each = len(times) + len(workers)
    print(
        f"sync: {count} runs, {len(times) / seconds:.0f} syncs/s, {points / passed:,.0f} points/s, none lost, none "
        f"doubled; p50 {1000 * percentile(times, 0.5):.0f} ms, p95 {1000 * percentile(times, 0.95):.0f} ms (target 250)"
        f", begun {1000 * percentile(late, 0.95):.0f} ms late at p95; of processor time each: "
        f"web {1000 * web_s / each:.1f} ms, database {1000 * database_s / each:.1f} ms"
    )


if __name__ == "__main__":
    main()
