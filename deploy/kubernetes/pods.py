"""Pods: containers that run as an unprivileged user on a read-only root, with volumes for writing."""

from collections.abc import Iterable, Mapping
from typing import Any

from deploy.commands import TMP, WAIT_FOR_MIGRATIONS, WEB_PORT
from deploy.kubernetes.objects import Installation, Manifest
from deploy.kubernetes.values import BundledServer, Resources
from deploy.variables import SECRETS

USER = 10001
"""User and group of our images, which own the data folder."""
HOME = "/var/lib/dressage"
_TMP = {"name": "tmp", "emptyDir": {}}
_OWN_SECRETS = ("DRESSAGE_SECRET_KEY", "DRESSAGE_CLUSTER_SECRET", "DRESSAGE_ENCRYPTION_KEYS")


def secret(installation: Installation, variable: str, key: str) -> Manifest:
    """A variable whose value is a key of the installation's Secret."""
    reference = {"name": installation.values.secrets.name, "key": key}
    return {"name": variable, "valueFrom": {"secretKeyRef": reference}}


def database(installation: Installation) -> list[Manifest]:
    """Variables with the address of PostgreSQL."""
    if not isinstance(installation.values.postgres, BundledServer):
        return [secret(installation, "DATABASE_URL", SECRETS["DATABASE_URL"])]
    url = f"postgresql://dressage:$(POSTGRES_PASSWORD)@{installation.name('postgres')}:5432/dressage"
    return [secret(installation, "POSTGRES_PASSWORD", "postgres-password"), {"name": "DATABASE_URL", "value": url}]


def redis(installation: Installation) -> list[Manifest]:
    """Variables with the address of Redis."""
    if not isinstance(installation.values.redis, BundledServer):
        return [secret(installation, "REDIS_URL", SECRETS["REDIS_URL"])]
    url = f"redis://:$(REDIS_PASSWORD)@{installation.name('redis')}:6379/0"
    return [secret(installation, "REDIS_PASSWORD", "redis-password"), {"name": "REDIS_URL", "value": url}]


def platform_environment(installation: Installation) -> Manifest:
    """``env`` and ``envFrom`` of the platform's processes."""
    own = [secret(installation, variable, SECRETS[variable]) for variable in _OWN_SECRETS]
    extra = [secret(installation, variable, key) for variable, key in installation.values.secrets.extra.items()]
    return {
        "env": [*database(installation), *redis(installation), *own, *extra],
        "envFrom": [{"configMapRef": {"name": installation.name("settings")}}],
    }


def container(name: str, image: str, command: Iterable[str], resources: Manifest, **more: Any) -> Manifest:
    """A container without privileges, on a read-only root. ``more`` may add to ``volumeMounts``."""
    mounts = [{"name": "tmp", "mountPath": TMP}, *more.pop("volumeMounts", [])]
    return {
        "name": name,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": list(command),
        "resources": resources,
        "securityContext": locked_down(),
        "volumeMounts": mounts,
        **more,
    }


def locked_down() -> Manifest:
    """Security context of a container."""
    return {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "runAsNonRoot": True,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def sized(resources: Resources) -> Manifest:
    """Requests and limits: memory is limited, processor time is not."""
    wanted = {"cpu": resources.cpu, "memory": resources.memory}
    return {"requests": wanted, "limits": {"memory": resources.memory}}


def pod(
    installation: Installation,
    part: str,
    containers: list[Manifest],
    *,
    labels: Mapping[str, str] | None = None,
    volumes: Iterable[Manifest] = (),
    user: int = USER,
    annotations: Mapping[str, str] | None = None,
    **spec: Any,
) -> Manifest:
    """A pod template: no root, no token of Kubernetes, and a folder for temporary files."""
    metadata: Manifest = {"labels": {**installation.labels(part), **(labels or {})}}
    if annotations:
        metadata["annotations"] = dict(annotations)
    pull = installation.values.secrets.pull
    identity = {"runAsUser": user, "runAsGroup": user, "fsGroup": user}
    return {
        "metadata": metadata,
        "spec": {
            "serviceAccountName": installation.values.name,
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "securityContext": {"runAsNonRoot": True, **identity, "fsGroupChangePolicy": "OnRootMismatch"},
            "containers": containers,
            "volumes": [_TMP, *volumes],
            **({"imagePullSecrets": [{"name": pull}]} if pull else {}),
            **spec,
        },
    }


def home_claim(installation: Installation) -> str:
    """Name of the claim of the data folder."""
    return installation.values.storage.existing_claim or installation.name("home")


def home_volume(installation: Installation) -> Manifest:
    """The data folder as a volume of a pod."""
    return {"name": "home", "persistentVolumeClaim": {"claimName": home_claim(installation)}}


HOME_MOUNT = {"name": "home", "mountPath": HOME}


def wait_for_migrations(installation: Installation) -> Manifest:
    """An init container that waits until the database has this release's migrations."""
    return container(
        "wait-for-migrations",
        installation.image("web"),
        WAIT_FOR_MIGRATIONS,
        {"requests": {"cpu": "100m", "memory": "512Mi"}, "limits": {"memory": "512Mi"}},
        volumeMounts=[HOME_MOUNT],
        **platform_environment(installation),
    )


def web_probe(path: str, **times: int) -> Manifest:
    """An HTTP probe of the web server."""
    return {
        "httpGet": {"path": path, "port": WEB_PORT},
        "timeoutSeconds": 15,
        "periodSeconds": 15,
        "failureThreshold": 4,
        **times,
    }


def command_probe(command: Iterable[str], **times: int) -> Manifest:
    """A probe that runs a command in the container and checks its exit status."""
    asked = {"command": list(command)}
    return {"exec": asked, "timeoutSeconds": 15, "periodSeconds": 30, "failureThreshold": 4, **times}
