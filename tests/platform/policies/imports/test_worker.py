"""A real worker of Celery is killed in the middle of a file; who comes next goes on where it was."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.utils import timezone
from safetensors.numpy import save_file

from dressage.config import ROOT
from dressage.policies.imports.carry_out import carry_out
from dressage.policies.models import Policy, PolicyImport
from tests.platform.policies.imports.conftest import NAME
from tests.support.about import PLATFORM
from tests.support.hub_server import HubServer
from tests.support.installation import end_with_parent, wait_until

SHARD = "model-2.safetensors"
WRITTEN = 16 << 20
"""Bytes that have been written when the worker is killed."""


@contextmanager
def worker(log: Path, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """The platform's worker, as the supervisor starts it, on the test's database."""
    database = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{connection.settings_dict['NAME']}").geturl()
    command = [sys.executable, "-m", "celery", "--quiet", "-A", "dressage.celery", "worker", "-Q", "platform"]
    command += ["--pool", "threads", "-c", "4", "--loglevel", "INFO", "--without-gossip", "--without-mingle"]
    path = os.pathsep.join([str(ROOT / "platform"), str(ROOT)])
    with log.open("ab") as out:
        process = subprocess.Popen(
            command,
            env={**os.environ, "DATABASE_URL": database, "PYTHONPATH": path, **environment},
            stdout=out,
            stderr=subprocess.STDOUT,
            preexec_fn=end_with_parent,
        )
        try:
            yield process
        finally:
            process.terminate()
            process.wait(timeout=60)


def written(home: Path) -> int:
    """Bytes of the largest file of the team's policies, whole or not."""
    return max((one.stat().st_size for one in home.rglob("*") if one.is_file()), default=0)


@pytest.mark.expensive(13, "copies files of a policy", about=PLATFORM)
@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_killed_worker_is_gone_on_with(
    begin: Callable[..., PolicyImport], hub: HubServer, tmp_path: Path, settings: Any
) -> None:
    large = tmp_path / "large.safetensors"
    save_file({"model.layers.0.self_attn.q_proj.weight": np.ones((1_000_000, 8), np.float32)}, large)
    hub.repositories[NAME].files[SHARD] = large.read_bytes()
    hub.faults.held[SHARD] = 20 << 20
    home, log = tmp_path / "home", tmp_path / "worker.log"
    settings.TEAM_POLICY_ROOT = home / "team-policies"
    environment = {
        "HF_ENDPOINT": hub.url,
        "DRESSAGE_HOME": str(home),
        "DRESSAGE_SECRET_KEY": django_settings.SECRET_KEY,
    }

    def story() -> str:
        return f"{PolicyImport.objects.values('state', 'error').get()}\n{log.read_text()[-4000:]}"

    row = begin()
    with worker(log, **environment) as first:
        # The hub has sent more than the worker has written: what it still holds in memory is lost with it.
        wait_until(lambda: hub.holding.is_set() and written(home) >= WRITTEN, 60, story)
        first.kill()
        first.wait()
    PolicyImport.objects.update(heard_at=timezone.now() - timedelta(seconds=60))
    hub.faults.held.clear()
    hub.go_on()
    carry_out(row.id)
    row.refresh_from_db()
    assert (row.state, row.attempt) == ("ready", 2), story()
    assert Policy.objects.get().parameters == 32 * 8 + 8_000_000
    ranges = [one.range for one in hub.asked if one.server == "cdn" and one.path.endswith(SHARD)]
    assert len(ranges) == 2 and ranges[0] is None
    assert int(str(ranges[1]).removeprefix("bytes=").rstrip("-")) >= WRITTEN
