"""Points per second that one web process takes into PostgreSQL through the link, each sync committed with fsync.

    python tests/bench/telemetry_ingest.py

Two patterns: a worker that catches up after an outage (full syncs), and one that is live (a step per sync).
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.bench.telemetry_setup import link_client, platform, running_run, sync_bodies

METRICS = 60
PATTERNS = {"catching up, 200 steps a sync": (4000, 200), "live, 1 step a sync": (300, 1)}
TARGET = 20_000


def main() -> None:
    """Print the figures."""
    with platform():
        from dressage.telemetry.models import Point

        for name, (steps, per_sync) in PATTERNS.items():
            run = running_run()
            client, path = link_client(run), f"/api/v1/link/runs/{run.id}/sync"
            bodies = sync_bodies(steps, METRICS, per_sync)
            before = Point.objects.count()
            began = time.perf_counter()
            for body in bodies:
                response = client.post(path, body, content_type="application/json")
                assert response.status_code == 200, response.content
            seconds = time.perf_counter() - began
            points = Point.objects.count() - before
            assert points == steps * METRICS
            rate = points / seconds
            print(f"ingest ({name}): {rate:,.0f} points/s, {1000 * seconds / len(bodies):.1f} ms a sync", end="")
            print(f" (target {TARGET:,})" if per_sync > 1 else "")
            run.team.delete()


if __name__ == "__main__":
    main()
