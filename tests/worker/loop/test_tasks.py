"""What the platform relies on: the tasks' names, the queue, JSON only."""

import kombu
import pytest

from trainer_core.link.celery_queue import broker_url
from worker import tasks
from worker.cluster.app import app
from worker.errors import ClusterError


def test_tasks_are_found_by_name_and_take_json_only() -> None:
    assert {"worker.tasks.start", "worker.tasks.stop", "worker.tasks.bench"} <= set(app.tasks)
    assert (app.conf.task_default_queue, app.conf.accept_content, app.conf.task_serializer) == (
        "cluster",
        ["json"],
        "json",
    )
    assert app.conf.task_acks_late and app.conf.task_reject_on_worker_lost
    with pytest.raises(kombu.exceptions.ContentDisallowed):
        kombu.serialization.loads(b"", "application/x-python-serialize", "binary", accept=app.conf.accept_content)


def test_unix_sockets_are_spelled_as_celery_wants_it() -> None:
    assert broker_url("unix:///tmp/redis.sock?db=1") == "redis+socket:///tmp/redis.sock?virtual_host=1"
    assert broker_url("redis://host:6379/0") == "redis://host:6379/0"


def test_without_a_cluster_the_task_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr(tasks.cluster.ray, "is_initialized", lambda: False)
    with pytest.raises(ClusterError, match="RAY_ADDRESS is not set"):
        tasks.start("r", 1, "http://127.0.0.1:1", "t")
