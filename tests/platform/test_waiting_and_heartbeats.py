"""What an orchestrator waits for and looks at: migrations, and heartbeats of workers."""

import os
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from tests.support.about import PLATFORM
from tests.support.installation import ROOT, wait_until


@pytest.mark.django_db
def test_whoever_waits_for_migrations_goes_on_when_all_are_there() -> None:
    call_command("wait_for_migrations", seconds=0)


@pytest.mark.django_db
def test_whoever_waits_for_migrations_says_which_one_is_missing() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'monitoring' OR app = 'compat' OR app = 'telemetry'")
    with pytest.raises(CommandError, match=r"lacks \d+ migrations of this release, the first telemetry\.0001"):
        call_command("wait_for_migrations", seconds=0, stdout=StringIO())


@pytest.mark.expensive(7, "walks over many requests", about=PLATFORM)
def test_a_worker_touches_its_heartbeat_file(tmp_path: Path) -> None:
    heartbeat = tmp_path / "heartbeat"
    environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'platform'}:{ROOT}", "DRESSAGE_HEARTBEAT_FILE": str(heartbeat)}
    queue = f"heartbeat-{os.getpid()}"
    command = [*(sys.executable, "-m", "celery", "--quiet", "-A", "dressage.celery", "worker", "-Q", queue)]
    command += ["--pool", "threads", "-c", "1", "--without-gossip", "--without-mingle"]
    worker = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_until(heartbeat.exists, 60)
        os.utime(heartbeat, (0, 0))
        wait_until(lambda: heartbeat.stat().st_mtime > time.time() - 60, 30)
    finally:
        worker.terminate()
        worker.wait(timeout=30)
