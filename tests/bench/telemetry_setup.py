"""What the telemetry benchmarks share: a durable embedded PostgreSQL, the platform's tables, one running run."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "platform"), str(ROOT)]


@contextmanager
def platform() -> Iterator[None]:
    """Servers of their own, with fsync as in an installation; Django set up and migrated."""
    import psycopg

    from dressage.embedded.postgres import EmbeddedPostgres
    from dressage.embedded.redis import EmbeddedRedis

    home = Path(tempfile.mkdtemp(prefix="dressage-bench-"))
    home.chmod(0o755)
    postgres, redis = EmbeddedPostgres(home), EmbeddedRedis(home)
    postgres.prepare()
    redis.prepare()
    servers = [subprocess.Popen(server.command, stderr=subprocess.DEVNULL) for server in (postgres, redis)]
    try:
        os.environ |= {"DRESSAGE_HOME": str(home), "DATABASE_URL": postgres.url, "REDIS_URL": redis.url}
        os.environ["DJANGO_SETTINGS_MODULE"] = "dressage.settings"
        for _ in range(300):
            try:
                psycopg.connect(postgres.url).close()
                break
            except psycopg.OperationalError:
                time.sleep(0.1)
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        yield
    finally:
        for server in servers:
            server.send_signal(signal.SIGINT)
        for server in servers:
            server.wait(timeout=30)
        shutil.rmtree(home, ignore_errors=True)


def running_run() -> Any:
    """A run with one attempt, as if a worker had begun."""
    from django.utils import timezone

    from dressage.common.secrets import secret_hash
    from dressage.runs.models import Attempt, Run
    from dressage.runs.tokens import link_token
    from dressage.teams.models import Team
    from trainer_core.spec.recipes import list_recipes

    spec = list_recipes()[0].run_spec().model_dump(mode="json")
    team = Team.objects.create(name="Bench", slug="bench")
    run = Run.objects.create(
        team=team, name="bench", spec=spec, effective_spec=spec, total_steps=100_000, state="running", attempt=1,
        started_at=timezone.now(), queued_at=timezone.now(), created_by="bench",
    )  # fmt: skip
    digest = secret_hash(link_token(run.id, 1))
    Attempt.objects.create(run=run, number=1, token_sha256=digest, created_at=timezone.now())
    return run


def sync_bodies(steps: int, metrics: int, per_sync: int) -> list[bytes]:
    """Bodies of syncs as a worker encodes them."""
    values = {f"group/metric_{number}": 0.0 for number in range(metrics)}
    start = datetime.now(UTC)
    bodies = []
    for first in range(1, steps + 1, per_sync):
        events = []
        for step in range(first, min(first + per_sync, steps + 1)):
            found = {name: step * 0.001 + index / 7 for index, name in enumerate(values)}
            data = {"metrics": found, "tokens_total": step * 1000, "seconds": 1.5}
            at = (start + timedelta(seconds=1.5 * step)).isoformat()
            events.append({"seq": step, "kind": "step", "step": step, "at": at, "data": data})
        bodies.append(json.dumps({"attempt": 1, "events": events, "applied": []}).encode())
    return bodies


def link_client(run: Any) -> Any:
    """A client with the attempt's token; requests take the whole way of the web process but for the socket."""
    from rest_framework.test import APIClient

    from dressage.runs.tokens import link_token

    return APIClient(SERVER_NAME="127.0.0.1", headers={"Authorization": f"Bearer {link_token(run.id, 1)}"})
