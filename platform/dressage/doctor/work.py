"""Faults of background work: no reconciler, growing queues, no beat or two beats."""

from collections.abc import Iterator

import psycopg
import redis

from dressage.doctor.fault import Fault
from dressage.doctor.place import Place
from trainer_core.link.celery_queue import BEATS, BEATS_S, QUEUE

_STALE_S = 60
"""Seconds after which an ended lease shows that the reconciler, which checks every two seconds, is not running."""
_SWEEPS_S = 10
"""Seconds within which a working beat sends several sweeps. One that was restarted counts once by then."""
_LEASES = """
SELECT count(*) FROM runs_attempt AS attempt JOIN runs_run AS run ON run.id = attempt.run_id
WHERE attempt.number = run.attempt AND run.state IN ('starting', 'running', 'paused') AND NOT attempt.fenced
  AND attempt.ended_at IS NULL AND attempt.lease_expires_at < now() - %s * interval '1 second'
"""


def leases(place: Place) -> Iterator[Fault]:
    """Runs whose worker is gone are recovered."""
    if not place.has_database:
        return
    try:
        with psycopg.connect(place.config.resolved_database_url, connect_timeout=5) as connection:
            [stale] = connection.execute(_LEASES, [_STALE_S]).fetchone() or (0,)
    except (psycopg.Error, ValueError):
        return  # the database check reports it
    if stale:
        yield Fault(
            "stale-leases",
            f"{stale} runs lost their worker more than {_STALE_S} s ago and were not restarted.",
            "The reconciler does not run: check that beat and a Celery worker of the queue `platform` run, and check"
            " their logs.",
        )


def queues(place: Place) -> Iterator[Fault]:
    """Messages are processed, and one beat sends the sweeps."""
    if not place.has_redis:
        return
    try:
        with redis.Redis.from_url(place.config.resolved_redis_url, socket_connect_timeout=5) as client:
            queues = ["platform", QUEUE, *(key.decode() for key in client.scan_iter(f"{QUEUE}-*", _type="list"))]
            waiting = {name: int(client.llen(name)) for name in queues}
            now = client.time()[0]
            beats = client.zrangebyscore(BEATS, now - BEATS_S, "+inf")
            at_work = client.zrangebyscore(BEATS, now - _SWEEPS_S, "+inf")
            expected = client.exists(BEATS) or place.is_up
    except (redis.RedisError, OSError, ValueError):
        return  # the Redis check reports it
    for name, count in waiting.items():
        if count > place.waiting:
            yield Fault(
                "backlog",
                f"{count} messages wait in the queue `{name}`.",
                f"Start a Celery worker for that queue, or more of them: see the log of the process `{name}`.",
            )
    if len(at_work) > 1:
        names = ", ".join(sorted(beat.decode(errors="replace") for beat in at_work))
        yield Fault(
            "several-beats",
            f"{len(at_work)} beats send the same sweeps: {names}.",
            "Keep one and stop the others: one replica in Kubernetes, with the strategy Recreate.",
            "warning",
        )
    elif not beats and expected:
        yield Fault(
            "no-beat",
            f"No beat has sent a sweep in the last {BEATS_S} s: lost runs are not restarted, and imports do not"
            " continue.",
            "Start `celery -A dressage.celery beat`, and a Celery worker of the queue `platform`; `manage.py up` starts"
            " both.",
        )
