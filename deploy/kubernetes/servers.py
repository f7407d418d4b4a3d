"""PostgreSQL and Redis as pods of the installation, and the claims of its volumes."""

from deploy.kubernetes.objects import Installation, Manifest
from deploy.kubernetes.platform import budget
from deploy.kubernetes.pods import command_probe, container, pod, secret, sized
from deploy.kubernetes.values import BundledServer, Storage

_SERVER_USER = 999
"""User of the official images of both servers."""
_KEPT = {"helm.sh/resource-policy": "keep"}
"""Annotation that makes Helm keep a volume when it uninstalls the rest."""


def claim(installation: Installation, part: str, storage: Storage, mode: str) -> list[Manifest]:
    """The claim of a volume, unless one already exists."""
    if storage.existing_claim:
        return []
    body = {"spec": _claim_spec(storage.size, storage.storage_class, mode)}
    return [installation.object("PersistentVolumeClaim", "v1", installation.name(part), part, body, _KEPT)]


def postgres(installation: Installation) -> list[Manifest]:
    """The bundled PostgreSQL; empty if it is external."""
    server = installation.values.postgres
    if not isinstance(server, BundledServer):
        return []
    asked = ("pg_isready", "--username", "dressage", "--host", "127.0.0.1")
    main = container(
        "postgres",
        installation.image("postgres"),
        ["docker-entrypoint.sh", "postgres"],
        sized(server.resources),
        env=[
            {"name": "POSTGRES_USER", "value": "dressage"},
            {"name": "POSTGRES_DB", "value": "dressage"},
            {"name": "PGDATA", "value": "/data/pgdata"},
            secret(installation, "POSTGRES_PASSWORD", "postgres-password"),
        ],
        ports=[{"name": "postgres", "containerPort": 5432}],
        startupProbe=command_probe(asked, periodSeconds=5, failureThreshold=60),
        livenessProbe=command_probe(asked),
        readinessProbe=command_probe(asked, periodSeconds=10),
        volumeMounts=[{"name": "data", "mountPath": "/data"}, {"name": "run", "mountPath": "/var/run/postgresql"}],
    )
    return _server(installation, "postgres", 5432, server, main, [{"name": "run", "emptyDir": {}}])


def redis(installation: Installation) -> list[Manifest]:
    """The bundled Redis; empty if it is external."""
    server = installation.values.redis
    if not isinstance(server, BundledServer):
        return []
    asked = ("sh", "-c", 'REDISCLI_AUTH="$REDIS_PASSWORD" redis-cli ping | grep -q PONG')
    main = container(
        "redis",
        installation.image("redis"),
        ["redis-server", "--dir", "/data", "--appendonly", "yes", "--requirepass", "$(REDIS_PASSWORD)"],
        sized(server.resources),
        env=[secret(installation, "REDIS_PASSWORD", "redis-password")],
        ports=[{"name": "redis", "containerPort": 6379}],
        startupProbe=command_probe(asked, periodSeconds=5, failureThreshold=60),
        livenessProbe=command_probe(asked),
        readinessProbe=command_probe(asked, periodSeconds=10),
        volumeMounts=[{"name": "data", "mountPath": "/data"}],
    )
    return _server(installation, "redis", 6379, server, main, [])


def _server(
    installation: Installation, part: str, port: int, server: BundledServer, main: Manifest, volumes: list[Manifest]
) -> list[Manifest]:
    name, selector = installation.name(part), installation.selector(part)
    data = {"metadata": {"name": "data"}, "spec": _claim_spec(server.size, server.storage_class, "ReadWriteOnce")}
    spec = {
        "replicas": 1,
        "serviceName": name,
        "selector": {"matchLabels": selector},
        "template": pod(
            installation, part, [main], volumes=volumes, user=_SERVER_USER, terminationGracePeriodSeconds=120
        ),
        "volumeClaimTemplates": [data],
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
    }
    service = {"selector": selector, "ports": [{"name": part, "port": port, "targetPort": part}]}
    return [
        installation.object("StatefulSet", "apps/v1", name, part, {"spec": spec}),
        installation.object("Service", "v1", name, part, {"spec": service}),
        # A drain waits for the operator, who chooses the time: without its server the platform is down.
        budget(installation, part, selector, minAvailable=1),
    ]


def _claim_spec(size: str, storage_class: str | None, mode: str) -> Manifest:
    return {
        "accessModes": [mode],
        "resources": {"requests": {"storage": size}},
        **({"storageClassName": storage_class} if storage_class else {}),
    }
