"""Celery between platform and cluster: the queue, its tasks, and the broker's address."""

from typing import Final

QUEUE: Final = "cluster"
"""The Celery queue of the workers of the cluster ``DEFAULT_CLUSTER``."""
DEFAULT_CLUSTER: Final = "default"
"""Name of the cluster where an installation names none, and of that of attempts from before clusters had names."""
START: Final = "worker.tasks.start"
"""Task: start an attempt; ``run_id, attempt, link_url``. No message holds a secret; see ``admission``."""
STOP: Final = "worker.tasks.stop"
"""Task: kill what is left of an attempt; ``run_id, attempt``."""
CHECK: Final = "worker.tasks.check"
"""Task: report attempts whose controllers are dead; ``attempts, link_url``, with a run and a number for each attempt.
Workers from before refuse it, and the leases expire."""
BEATS: Final = "dressage.beats"
"""Redis key of a sorted set: who has sent sweeps, by the time of the last one. There should be one."""
BEATS_S: Final = 60
"""Seconds after which one that has sent none is gone."""
FROM_BEAT: Final = "from_beat"
"""Header of the messages that beat sends."""
MEASURE: Final = "worker.tasks.measure"
"""Task: tell the cluster's size and hand its autoscaler the demand; ``cluster, link_url, demand``."""


def queue_of(cluster: str) -> str:
    """The Celery queue of a cluster's workers; each has one of its own, so its runs are started beside it."""
    return QUEUE if cluster in ("", DEFAULT_CLUSTER) else f"{QUEUE}-{cluster}"


def broker_url(redis_url: str) -> str:
    """Celery's spelling of a Redis URL: Unix sockets have a scheme of their own."""
    return redis_url.replace("unix://", "redis+socket://", 1).replace("?db=", "?virtual_host=")
