"""Milliseconds of a chart query over 10,000 steps × 8 metrics, as the browser waits for it (socket apart).

python tests/bench/telemetry_query.py
"""

import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.telemetry_setup import link_client, platform, running_run, sync_bodies

STEPS, METRICS, DRAWN = 10_000, 60, 8
REPEATS = 15
TARGET_MS = 150


def main() -> None:
    """Print the figures."""
    with platform():
        from django.db import connection
        from rest_framework.test import APIClient

        from dressage.common.actors import Actor
        from dressage.common.roles import Role
        from dressage.teams.service_accounts import create_service_account
        from dressage.teams.tokens import create_token

        run = running_run()
        client, path = link_client(run), f"/api/v1/link/runs/{run.id}/sync"
        for body in sync_bodies(STEPS, METRICS, 200):
            assert client.post(path, body, content_type="application/json").status_code == 200
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")  # as autovacuum does within a minute
        bench, viewing = Actor.system("bench"), Role.VIEWER
        account = create_service_account(run.team, bench, name="bench", role=viewing)
        _, secret = create_token(run.team, bench, name="bench", role=viewing, owner=account)
        viewer = APIClient(SERVER_NAME="127.0.0.1", headers={"Authorization": f"Bearer {secret}"})
        keys = ",".join(f"group/metric_{number}" for number in range(DRAWN))
        for axis in ("step", "time", "tokens"):
            times = []
            for _ in range(REPEATS):
                began = time.perf_counter()
                response = viewer.get(f"/api/v1/runs/{run.id}/metrics", {"keys": keys, "x": axis})
                times.append(1000 * (time.perf_counter() - began))
                assert response.status_code == 200
            series = response.json()["series"]["group/metric_0"]
            assert series["raw_count"] == STEPS
            median, worst = statistics.median(times), max(times)
            print(
                f"query (x = {axis}): {median:.0f} ms median, {worst:.0f} ms worst of {REPEATS}; "
                f"{STEPS} steps × {DRAWN} metrics to {len(series['x'])} buckets (target {TARGET_MS})"
            )


if __name__ == "__main__":
    main()
