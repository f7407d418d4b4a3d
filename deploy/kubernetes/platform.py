"""The platform's own processes: web, workers, beat, and the job that migrates the database."""

from collections.abc import Iterable
from typing import Any

from deploy import commands
from deploy.kubernetes.objects import DATABASE_CLIENT, REDIS_CLIENT, Installation, Manifest, digest_of
from deploy.kubernetes.pods import (
    HOME,
    HOME_MOUNT,
    command_probe,
    container,
    home_volume,
    platform_environment,
    pod,
    sized,
    wait_for_migrations,
    web_probe,
)
from deploy.kubernetes.values import Resources

CLIENT = {**DATABASE_CLIENT, **REDIS_CLIENT}


def settings(installation: Installation) -> Manifest:
    """The ConfigMap with all settings that are not secret."""
    values = installation.values
    clusters = [*(cluster.name for cluster in values.clusters), *values.further_clusters]
    proxies = values.ingress.trusted_proxies if values.ingress else ()
    data = {
        "DRESSAGE_MODE": "production",
        "DRESSAGE_HOME": HOME,
        "DRESSAGE_HOST": commands.EVERYWHERE,
        "DRESSAGE_PORT": str(commands.WEB_PORT),
        "DRESSAGE_URL": values.url,
        "DRESSAGE_TRUSTED_PROXIES": ",".join(proxies),
        "LINK_URL": link_url(installation),
        **({"DRESSAGE_CLUSTERS": ",".join(clusters)} if clusters else {}),
        "HOME": commands.TMP,
        **({"HF_HUB_OFFLINE": "true"} if values.air_gap else {}),
        **{name: _text(value) for name, value in values.settings.items()},
    }
    return installation.object("ConfigMap", "v1", installation.name("settings"), "settings", {"data": data})


def link_url(installation: Installation) -> str:
    """Address at which workers reach the platform."""
    return f"http://{installation.name('web')}:{commands.WEB_PORT}"


def web(installation: Installation) -> list[Manifest]:
    """The web processes, their service and their disruption budget."""
    values = installation.values.web
    selector = installation.selector("web")
    port = {"name": "http", "containerPort": commands.WEB_PORT}
    main = container(
        "web",
        installation.image("web"),
        commands.WEB,
        sized(values.resources),
        volumeMounts=[HOME_MOUNT],
        ports=[port],
        startupProbe=web_probe("/health/live", periodSeconds=5, failureThreshold=36),
        livenessProbe=web_probe("/health/live"),
        readinessProbe=web_probe("/health/ready", periodSeconds=10, failureThreshold=2),
        # A terminating pod's addresses are removed from services concurrently: wait until they are gone.
        lifecycle={"preStop": {"exec": {"command": ["sleep", "5"]}}},
        **_with(platform_environment(installation), MALLOC_ARENA_MAX="2"),
    )
    spread = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": selector},
    }
    service = {"selector": selector, "ports": [{"name": "http", "port": commands.WEB_PORT, "targetPort": "http"}]}
    return [
        _deployment(installation, "web", values.replicas, main, topologySpreadConstraints=[spread]),
        installation.object("Service", "v1", installation.name("web"), "web", {"spec": service}),
        budget(installation, "web", selector, maxUnavailable=1),
    ]


def workers(installation: Installation) -> list[Manifest]:
    """The Celery workers of the platform and their disruption budget."""
    values = installation.values.workers
    main = container(
        "worker",
        installation.image("web"),
        commands.platform_worker(values.threads),
        sized(values.resources),
        volumeMounts=[HOME_MOUNT],
        startupProbe=command_probe(commands.WORKER_IS_ALIVE, periodSeconds=5, failureThreshold=36),
        livenessProbe=command_probe(commands.WORKER_IS_ALIVE),
        **_with(platform_environment(installation), DRESSAGE_HEARTBEAT_FILE=commands.HEARTBEAT_FILE),
    )
    return [
        _deployment(installation, "workers", values.replicas, main, terminationGracePeriodSeconds=120),
        budget(installation, "workers", installation.selector("workers"), maxUnavailable=1),
    ]


def beat(installation: Installation) -> Manifest:
    """The one process that wakes the workers; two of them never run at the same time."""
    main = container(
        "beat",
        installation.image("web"),
        commands.BEAT,
        sized(installation.values.beat),
        volumeMounts=[HOME_MOUNT, {"name": "beat", "mountPath": commands.BEAT_FOLDER}],
        startupProbe=command_probe(commands.BEAT_IS_ALIVE, periodSeconds=5, failureThreshold=36),
        livenessProbe=command_probe(commands.BEAT_IS_ALIVE),
        **platform_environment(installation),
    )
    one = _deployment(installation, "beat", 1, main, volumes=[{"name": "beat", "emptyDir": {}}])
    one["spec"]["strategy"] = {"type": "Recreate"}
    return one


def migrations(installation: Installation) -> Manifest:
    """The job that migrates the database. Its name changes with its content, since jobs are immutable."""
    main = container(
        "migrate",
        installation.image("web"),
        commands.MIGRATE,
        sized(Resources(cpu="250m", memory="1Gi")),
        volumeMounts=[HOME_MOUNT],
        **platform_environment(installation),
    )
    template = pod(
        installation, "migrate", [main], labels=CLIENT, volumes=[home_volume(installation)], restartPolicy="OnFailure"
    )
    spec = {"backoffLimit": 10, "template": template}
    name = installation.name(f"migrate-{digest_of([spec, settings(installation)['data']])}")
    return installation.object("Job", "batch/v1", name, "migrate", {"spec": spec})


def budget(installation: Installation, part: str, selector: dict[str, str], **bound: int) -> Manifest:
    """Limit on the number of a part's pods that may be disrupted voluntarily."""
    spec = {**bound, "selector": {"matchLabels": selector}}
    return installation.object("PodDisruptionBudget", "policy/v1", installation.name(part), part, {"spec": spec})


def _deployment(
    installation: Installation,
    part: str,
    replicas: int,
    main: Manifest,
    volumes: Iterable[Manifest] = (),
    **pod_spec: Any,
) -> Manifest:
    template = pod(
        installation,
        part,
        [main],
        labels=CLIENT,
        volumes=[home_volume(installation), *volumes],
        annotations={"dressage/settings": digest_of(settings(installation)["data"])},
        initContainers=[wait_for_migrations(installation)],
        **pod_spec,
    )
    spec = {
        "replicas": replicas,
        "selector": {"matchLabels": installation.selector(part)},
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}},
        "template": template,
    }
    return installation.object("Deployment", "apps/v1", installation.name(part), part, {"spec": spec})


def _with(environment: Manifest, **variables: str) -> Manifest:
    added = [{"name": name, "value": value} for name, value in variables.items()]
    return {**environment, "env": [*environment["env"], *added]}


def _text(value: str | int | float | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
