"""The platform under the load of a cluster: from one linked run to a thousand, each with steps and shown completions.

    python tests/bench/load_curve.py [runs ...]

Every run makes a step every ``STEP_S`` seconds, with its metrics and with four groups of completions at the length that
docs/simulation.md reckons with; that is far more often than runs of that size would, so that the curve goes on beyond
what 4,096 GPUs need. Two real web processes and a durable PostgreSQL, as in ``load_sync``; each number of runs has a
platform of its own. Prints a table, and draws docs/images/platform-load.svg.
"""

import asyncio
import json
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench import load_sync
from tests.bench.load_client import percentile
from tests.bench.load_picture import Point, picture
from tests.bench.load_setup import Cost, web
from tests.bench.telemetry_setup import ROOT, platform

RUNS = (1, 8, 64, 128, 256, 512)
SECONDS, STEP_S = 16.0, 16.0
GROUPS, SAMPLES, CHARACTERS = 4, 16, 14_900
"""Shown completions of a step, and the length of each: four characters a token, cut as they are on the way."""
NEEDED_STEPS = 1.98
"""Steps in a second of 512 runs on eight GPUs each, which is the largest load of docs/simulation.md."""
AT = "2026-11-22T12:00:00Z"


def _rollouts() -> str:
    text = "Let us add both numbers, and look at what is carried. "
    completion = (text * (CHARACTERS // len(text) + 1))[:CHARACTERS]
    rows = [
        {
            "group_id": f"g{group}", "sample": sample, "prompt_id": f"p{group}", "source": "data", "prompt": text,
            "completion": completion, "answer": "4", "reward": 1.0, "advantage": 0.5, "finish_reason": "stop",
            "length": CHARACTERS // 4, "policy_versions": [1, 2],
        }
        for group in range(GROUPS)
        for sample in range(SAMPLES)
    ]  # fmt: skip
    return json.dumps({"rows": rows}, separators=(",", ":"))


ROLLOUTS = _rollouts()
"""Data of the event that shows a step's completions. All runs say the same, so that the client holds it once."""


class Worker(load_sync.Worker):
    """One run, which also shows completions; an event of it is written when it is sent."""

    def __init__(self, id: str, token: str, late: float) -> None:
        super().__init__(id, token)
        self._late = late
        self.seconds = 0.0

    def due(self, passed: float) -> bool:
        """Whether a step has been learned after ``passed`` seconds."""
        return passed >= self._late + self.made * STEP_S

    def learn(self) -> None:
        """Note a step, and what of it is shown."""
        self.made += 1
        step, number = self.made, 2 * self.made - 1
        metrics = {f"group/metric_{index}": step * 0.001 + index / 7 for index in range(load_sync.METRICS)}
        data = json.dumps({"metrics": metrics, "tokens_total": step * 1000, "seconds": STEP_S})
        for seq, kind, said in ((number, "step", data), (number + 1, "rollouts", ROLLOUTS)):
            head = f'{{"seq":{seq},"kind":"{kind}","step":{step},"at":"{AT}","data":'
            self._journal.append((seq, f"{head}{said}}}"))


@dataclass(frozen=True)
class Figures:
    """What was measured with a number of runs."""

    runs: int
    syncs: int
    steps: int
    seconds: float
    """Time from the first worker's first step to the end of the last sync."""
    p50: float
    p95: float
    """Seconds of a sync."""
    web: float
    """Processor time of the web tier in a second."""
    database: float


def measure(count: int) -> Figures:
    """Runs for a while, on a platform of their own. Fails where an event was lost or stored twice."""
    begun: list[float] = []

    def learned(worker: Worker, passed: float) -> bool:
        if not begun:  # all have said hello
            begun.append(time.perf_counter())
        return worker.due(passed)

    with platform():
        workers = [
            Worker(*link, late=STEP_S * (0.5 + number) / count) for number, link in enumerate(load_sync.linked(count))
        ]
        with web(load_sync.WEB_PROCESSES) as (port, server):
            cost = Cost(server)
            times, _ = asyncio.run(load_sync.train(port, workers, SECONDS, learned))
            seconds = time.perf_counter() - begun[0]
            passed, web_s, database_s = cost.taken()
        steps = check(workers)
    return Figures(
        runs=count,
        syncs=len(times),
        steps=steps,
        seconds=seconds,
        p50=percentile(times, 0.5),
        p95=percentile(times, 0.95),
        web=web_s / passed,
        database=database_s / passed,
    )


def check(workers: list[Worker]) -> int:
    """Number of steps that are stored, each once."""
    from django.db import connection

    acked = sum(worker.acked for worker in workers)
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*), count(DISTINCT (run_id, step, kind)) FROM telemetry_event")
        events, distinct = cursor.fetchone()
        cursor.execute("SELECT count(*) FROM telemetry_event WHERE kind = 'step'")
        [steps] = cursor.fetchone()
    assert events == distinct == acked, f"{events} events, {distinct} different ones, {acked} acknowledged"
    return int(steps)


def main() -> None:
    """Print the table and draw the picture; with ``--one`` and a number of runs, the figures alone, as JSON."""
    given = sys.argv[1:]
    if given[:1] == ["--one"]:
        print(json.dumps(asdict(measure(int(given[1])))))
        return
    points: list[Point] = []
    print("| runs | syncs/s | events/s | steps/s | MB/s | of 4,096 GPUs' steps | p50 | p95 | web | database |")
    print("|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for count in [int(number) for number in given] or RUNS:
        # Django is set up once in a process, and with it the database.
        command = [sys.executable, __file__, "--one", str(count)]
        told = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
        one = Figures(**json.loads(told.splitlines()[-1]))
        steps = one.steps / one.seconds
        print(
            f"| {one.runs:,} | {one.syncs / one.seconds:.0f} | {2 * steps:.2g} | {steps:.2g} | "
            f"{steps * len(ROLLOUTS) / 1e6:.2g} | {steps / NEEDED_STEPS:.2g} × | {1000 * one.p50:.0f} ms | "
            f"{1000 * one.p95:.0f} ms | {one.web:.0%} | {one.database:.0%} |",
            flush=True,
        )
        points.append(Point(count, steps / NEEDED_STEPS, one.p95))
        (ROOT / "docs" / "images" / "platform-load.svg").write_text(picture(points))


if __name__ == "__main__":
    main()
