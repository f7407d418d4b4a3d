"""Processes of an installation, in the order in which they start."""

import os
import sys
from dataclasses import dataclass, field
from signal import SIGINT, SIGTERM, Signals

from dressage.cluster_list import NamedCluster
from dressage.config import ROOT, Config
from dressage.supervisor.keeper import HOME_VARIABLE
from dressage.supervisor.ray_head import RayHead
from trainer_core.link.celery_queue import queue_of
from trainer_core.log_lines import FORMAT_VARIABLE

OF_THE_PLATFORM = (
    "DATABASE_URL",
    "DRESSAGE_SECRET_KEY",
    "DRESSAGE_ENCRYPTION_KEYS",
    "DRESSAGE_EMAIL_URL",
    "DRESSAGE_OIDC_CLIENT_SECRET",
    "DRESSAGE_ADMIN_PASSWORD",
)
"""Variables with secrets that no process of the cluster needs."""
OF_NO_ACTOR = (*OF_THE_PLATFORM, "REDIS_URL", "DRESSAGE_CLUSTER_SECRET")
"""Variables with secrets that Ray's processes do not need either: actors inherit the environment of its head."""
CELERY = [sys.executable, "-m", "celery", "--quiet"]
_QUIET = ["--loglevel", "WARNING", "--without-gossip", "--without-mingle"]
_FAREWELL = r"worker: Warm shutdown|^\s*$"


@dataclass(frozen=True)
class Process:
    """One supervised process."""

    name: str
    command: list[str]
    env: dict[str, str] = field(default_factory=dict)
    stop_signal: Signals = SIGTERM
    stop_seconds: float = 15.0
    """Time to exit by itself before it is killed."""
    is_server: bool = False
    """Others use it, and are stopped before it."""
    hidden: tuple[str, ...] = ()
    """Variables of the installation that it does not need."""
    muted: str | None = None
    """Pattern of log lines that are useless to readers: banners, farewells and advice meant for other set-ups."""


def servers(config: Config) -> list[Process]:
    """The embedded servers: those that no URL replaces."""
    found = []
    if postgres := config.embedded_postgres:
        muted = r"LOG:  |the database system is starting up"
        # SIGINT is PostgreSQL's fast shutdown: it does not wait for clients to disconnect.
        found.append(Process("postgres", postgres.command, stop_signal=SIGINT, is_server=True, muted=muted))
    if redis := config.embedded_redis:
        muted = r"oO0Oo|Redis version|Configuration loaded|initialized|overcommit|shutdown|ready to exit"
        found.append(Process("redis", redis.command, is_server=True, muted=muted))
    return found


def services(config: Config, ray: RayHead | None) -> list[Process]:
    """Ray, the web server and the Celery workers."""
    quietly = ["--no-access-log", "--log-level", "warning"]
    # dressage.asgi reads proxy headers, only those of trusted proxies; uvicorn would also trust this machine.
    uvicorn = ["--host", config.host, "--port", str(config.port), "--no-proxy-headers", *quietly]
    uvicorn += ["--workers", str(config.web_processes)] if config.web_processes > 1 else []
    # Clients send nothing on a stream: uvicorn's default of 16 MiB per message would give anyone 16 MiB of memory.
    uvicorn += ["--ws-max-size", "4096", "--ws-max-queue", "4"]
    schedule = config.home / "beat-schedule"
    return [
        *(
            [Process("ray", ray.command, env=ray.env, stop_seconds=20.0, hidden=OF_NO_ACTOR, muted=r"INFO|SUCC")]
            if ray
            else []
        ),
        # glibc keeps an arena per request thread, and memory for a large response would stay allocated in all of them.
        Process(
            "web",
            [sys.executable, "-m", "uvicorn", "dressage.asgi:application", *uvicorn],
            env={"MALLOC_ARENA_MAX": "2"},
        ),
        Process(
            "platform",
            # Threads: imports and jobs of the lab take hours, while runs still have to be managed.
            [*CELERY, "-A", "dressage.celery", "worker", "-Q", "platform", "--pool", "threads", "-c", "6", *_QUIET],
            muted=_FAREWELL,
        ),
        Process(
            "beat",
            [
                *CELERY,
                "-A",
                "dressage.celery",
                "beat",
                "--schedule",
                str(schedule),
                "--pidfile=",
                "--loglevel",
                "WARNING",
            ],
        ),
        *(_cluster_worker(config, cluster, ray) for cluster in config.resolved_clusters if cluster.address is not None),
    ]


def _cluster_worker(config: Config, cluster: NamedCluster, ray: RayHead | None) -> Process:
    """The Celery worker of a cluster's queue, which creates the actors of its runs."""
    queue = queue_of(cluster.name)
    env = cluster_environment(cluster, ray)
    if not config.cluster_secret:
        env |= {"DRESSAGE_CLUSTER_SECRET_FILE": str(config.cluster_secret_path.resolve())}
    command = [
        *CELERY,
        "-A",
        "worker.cluster.app",
        "worker",
        "-Q",
        queue,
        "-n",
        f"{queue}@%h",
        "--pool",
        "solo",
        *_QUIET,
    ]
    return Process(queue, command, env=env, hidden=OF_THE_PLATFORM, muted=_FAREWELL)


def cluster_environment(cluster: NamedCluster, ray: RayHead | None) -> dict[str, str]:
    """Variables by which a process finds the cluster and authenticates to its Ray. The token itself is in a file."""
    if ray is not None and cluster.is_local:
        return {"RAY_ADDRESS": ray.address, **ray.env}
    env = {"RAY_ADDRESS": cluster.address or ""}
    if cluster.token_file is not None:
        env |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN_PATH": str(cluster.token_file.resolve())}
    return env


def base_environment(config: Config) -> dict[str, str]:
    """Environment that every process gets: the resolved addresses, so that none starts its own server."""
    return {
        **os.environ,
        "DRESSAGE_HOME": str(config.home),
        HOME_VARIABLE: str(config.home.resolve()),
        "DATABASE_URL": config.resolved_database_url,
        "REDIS_URL": config.resolved_redis_url,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "platform"), str(ROOT)]),
        "PYTHONUNBUFFERED": "1",
        FORMAT_VARIABLE: config.resolved_log_format,
        "OMP_NUM_THREADS": "1",
        # Compiled kernels outlive the run, and the container whose user has no home folder of its own.
        "TRITON_CACHE_DIR": os.environ.get("TRITON_CACHE_DIR") or str(config.home.resolve() / "triton"),
        # Celery warns about root because of pickle; only JSON is accepted here.
        "PYTHONWARNINGS": "ignore::Warning:celery.platforms",
        "DJANGO_SETTINGS_MODULE": "dressage.settings",
    }
