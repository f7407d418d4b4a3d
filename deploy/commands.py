"""Commands of an installation's processes, the same for compose, Kubernetes and ``manage.py up``."""

WEB_PORT = 8600
EVERYWHERE = "0.0.0.0"  # nosec B104
"""Address of a server that listens within its own container, whose network decides who can connect."""
TMP = "/tmp"  # nosec B108
"""Folder private to each container that it may write to."""
WEB = (
    *("python", "-m", "uvicorn", "dressage.asgi:application", "--host", EVERYWHERE, "--port", str(WEB_PORT)),
    *("--no-proxy-headers", "--no-access-log", "--log-level", "warning"),
    *("--ws-max-size", "4096", "--ws-max-queue", "4"),
)
_CELERY = ("python", "-m", "celery", "--quiet")
_QUIET = ("--loglevel", "WARNING", "--without-gossip", "--without-mingle")
BEAT_FOLDER = f"{TMP}/beat"
BEAT = (
    *(*_CELERY, "-A", "dressage.celery", "beat", "--schedule", f"{BEAT_FOLDER}/schedule", "--pidfile="),
    *("--loglevel", "WARNING"),
)
MIGRATE = ("python", "manage.py", "migrate", "--verbosity", "1")
WAIT_FOR_MIGRATIONS = ("python", "manage.py", "wait_for_migrations")
HEARTBEAT_FILE = f"{TMP}/heartbeat"
WORKER_IS_ALIVE = ("sh", "-c", f"find {HEARTBEAT_FILE} -mmin -5 | grep -q .")
"""Probe of a Celery worker, which touches the file every two seconds."""
BEAT_IS_ALIVE = ("sh", "-c", f"find {BEAT_FOLDER} -type f -mmin -10 | grep -q .")
"""Probe of beat, which writes its schedule every three minutes."""


def cluster_worker(cluster: str = "default") -> tuple[str, ...]:
    """Command of the Celery worker that serves the queue of a cluster."""
    queue = "cluster" if cluster == "default" else f"cluster-{cluster}"
    served = ("worker.cluster.app", "worker", "-Q", queue, "-n", f"{queue}@%h")
    return (*_CELERY, "-A", *served, "--pool", "solo", *_QUIET)


def platform_worker(threads: int) -> tuple[str, ...]:
    """Command of a Celery worker of the platform that runs this many tasks at the same time."""
    return (
        *(*_CELERY, "-A", "dressage.celery", "worker", "-Q", "platform"),
        *("--pool", "threads", "-c", str(threads), *_QUIET),
    )
