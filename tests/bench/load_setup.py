"""What the benchmarks of load share: a platform that has been used for long, its web processes, and their cost."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psutil

from tests.bench.telemetry_setup import ROOT, running_run
from tests.support.installation import end_with_parent, free_port, wait_until

METRICS, STEPS = 10, 50
"""Metrics and steps of an ordinary run among those that are stored."""
CHARTED_METRICS, CHARTED_STEPS = 60, 1000
"""The same of the runs that are looked at."""
CHARTED = 50


@dataclass(frozen=True)
class Stored:
    """What is there to be read."""

    team: Any
    runs: list[str]
    """Ids of all runs, oldest first."""
    charted: list[str]
    """Ids of those with long telemetry."""
    points: int


def fill(runs: int, points: int) -> Stored:
    """Make ``runs`` runs with ``points`` points in all, as one attempt of each would have left them."""
    from django.db import connection

    from dressage.runs.models import Attempt, Run
    from dressage.telemetry.models import Event, Moment, Point, Series

    run = running_run()
    Run.objects.filter(pk=run.pk).update(state="succeeded", step=STEPS)
    number, newest = "lpad(n::text, 22, '0')", f"n > {runs - CHARTED}"
    ordinary = max(0, points - CHARTED * CHARTED_METRICS * CHARTED_STEPS)
    metrics = max(1, min(METRICS, ordinary // (runs * STEPS)))
    with connection.cursor() as cursor:

        def multiply(model: Any, source: str, **values: str) -> None:
            """Insert a row for each of ``source``; columns that are not named are as in the first row there is."""
            names = [field.column for field in model._meta.local_concrete_fields]
            shown = [values.get(name, f't."{name}"') for name in names]
            columns = ", ".join(f'"{name}"' for name in names)
            cursor.execute(f"INSERT INTO {model._meta.db_table} ({columns}) SELECT {', '.join(shown)} FROM {source}")

        every, one_run = f"generate_series(1, {runs}) n", f"(SELECT * FROM runs_run WHERE id = '{run.id}') t"
        multiply(
            Run, f"{every}, {one_run}", id=f"'run_' || {number}", name="'run ' || n",
            created_at=f"now() - ({runs} - n) * interval '20 s'", updated_at=f"now() - ({runs} - n) * interval '20 s'",
            state="CASE WHEN n % 7 = 0 THEN 'failed' ELSE 'succeeded' END", attempt="1", event_seq="12",
        )  # fmt: skip
        tried = f"{every}, (SELECT * FROM runs_attempt LIMIT 1) t"
        multiply(Attempt, tried, id="n + 1", run_id=f"'run_' || {number}", token_sha256="md5(n::text)")
        # What is written here need not outlive a crash, and an index is built faster than it grows.
        for model in (Series, Event, Point, Moment):
            cursor.execute(f"ALTER TABLE {model._meta.db_table} SET UNLOGGED")
        cursor.execute("ALTER TABLE telemetry_point DROP CONSTRAINT telemetry_point_pkey")
        cursor.execute(
            f"INSERT INTO telemetry_series (id, run_id, name) SELECT n * 100 + m, 'run_' || {number}, "
            f"'group/metric_' || m FROM {every}, "
            f"generate_series(0, CASE WHEN {newest} THEN {CHARTED_METRICS} ELSE {metrics} END - 1) m"
        )
        cursor.execute(
            f"INSERT INTO telemetry_point (series_id, step, attempt, value) "
            f"SELECT n * 100 + m, s, 1, sin(s) FROM {every}, generate_series(0, {metrics} - 1) m, "
            f"generate_series(1, {STEPS}) s WHERE NOT {newest}"
        )
        cursor.execute(
            f"INSERT INTO telemetry_point (series_id, step, attempt, value) "
            f"SELECT n * 100 + m, s, 1, sin(s) FROM generate_series({runs - CHARTED + 1}, {runs}) n, "
            f"generate_series(0, {CHARTED_METRICS} - 1) m, generate_series(1, {CHARTED_STEPS}) s"
        )
        cursor.execute(
            f"INSERT INTO telemetry_moment (run_id, step, attempt, at, seconds, tokens_total) "
            f"SELECT 'run_' || {number}, s, 1, now() + s * interval '1 s', 1, s * 1000 "
            f"FROM {every}, generate_series(1, CASE WHEN {newest} THEN {CHARTED_STEPS} ELSE 12 END) s"
        )
        cursor.execute(
            f"INSERT INTO telemetry_event (run_id, seq, attempt, kind, step, at, data) "
            f"SELECT 'run_' || {number}, s, 1, 'step', s, now(), "
            "jsonb_build_object('metrics', jsonb_build_object('critic/score/mean', 0.5, 'response_length/mean', 12.5)) "
            f"FROM {every}, generate_series(1, CASE WHEN {newest} THEN {CHARTED_STEPS} ELSE 12 END) s"
        )
        cursor.execute("SET maintenance_work_mem = '1GB'")
        cursor.execute("ALTER TABLE telemetry_point ADD PRIMARY KEY (series_id, step, attempt)")
        cursor.execute("VACUUM ANALYZE")
        cursor.execute("SELECT count(*) FROM telemetry_point")
        [stored] = cursor.fetchone()
    names = [f"run_{n:022}" for n in range(1, runs + 1)]
    return Stored(run.team, names, names[-CHARTED:], stored)


@contextmanager
def web(processes: int) -> Iterator[tuple[int, psutil.Process]]:
    """Real web processes, as ``manage.py up`` starts them; gives their port, and the process above them."""
    port = free_port()
    options = ["--port", str(port), "--workers", str(processes), "--no-access-log", "--log-level", "warning"]
    server = subprocess.Popen(
        [sys.executable, "-m", "uvicorn", "dressage.asgi:application", *options],
        cwd=ROOT / "platform",
        env=os.environ | {"DRESSAGE_ORIGINS": f"http://127.0.0.1:{port}"},  # for a real browser
        preexec_fn=end_with_parent,
    )
    try:
        wait_until(lambda: _listens(port), 60, lambda: "the web processes do not answer")
        yield port, psutil.Process(server.pid)
    finally:
        server.terminate()
        server.wait(timeout=30)


def _listens(port: int) -> bool:
    import httpx

    try:
        return httpx.get(f"http://127.0.0.1:{port}/api/v1/session", timeout=30).status_code == 200
    except httpx.TransportError:
        return False


class Cost:
    """Processor time of the web processes and of the database's, from the moment when it is made."""

    def __init__(self, server: psutil.Process) -> None:
        self._web = [server, *server.children(recursive=True)]
        self._began = time.perf_counter()
        self._before = self._now()

    def taken(self) -> tuple[float, float, float]:
        """Seconds that passed; seconds of processor time of the web tier, and of PostgreSQL."""
        (web, database), passed = self._now(), time.perf_counter() - self._began
        return passed, web - self._before[0], database - self._before[1]

    def _now(self) -> tuple[float, float]:
        me = psutil.Process()
        database = [one for one in me.children(recursive=True) if "postgres" in one.name()]
        return sum(map(_spent, self._web)), sum(map(_spent, database))


def _spent(process: psutil.Process) -> float:
    """Seconds; those of children that have ended count where they were waited for."""
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system + times.children_user + times.children_system)
