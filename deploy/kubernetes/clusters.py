"""Ray clusters that KubeRay runs, each with its Celery worker next to its head."""

import re
from functools import cache
from typing import Any

from deploy import commands
from deploy.kubernetes.checks import amount
from deploy.kubernetes.cluster_values import Cluster, RayNode, WorkerGroup
from deploy.kubernetes.kuberay import AuthOptions, AutoscalerOptions, HeadGroupSpec, RayClusterSpec, WorkerGroupSpec
from deploy.kubernetes.objects import REDIS_CLIENT, Installation, Manifest
from deploy.kubernetes.platform import budget
from deploy.kubernetes.pods import (
    HOME_MOUNT,
    command_probe,
    container,
    home_volume,
    locked_down,
    pod,
    redis,
    secret,
)
from deploy.variables import ROOT, SECRETS

GCS_PORT, AGENT_PORT = 6379, 52365
_SHARED = [{"name": "ray-logs", "mountPath": f"{commands.TMP}/ray"}, {"name": "shared-mem", "mountPath": "/dev/shm"}]  # nosec B108
"""Mounts that all processes of a Ray node must share; KubeRay expects these names."""


def cluster(installation: Installation, wanted: Cluster) -> list[Manifest]:
    """The RayCluster and the disruption budgets of its pods."""
    name = installation.name(wanted.name)
    labels, annotations = {}, {}
    if wanted.kueue:
        labels["kueue.x-k8s.io/queue-name"] = wanted.kueue.queue
        if wanted.kueue.priority_class:
            labels["kueue.x-k8s.io/priority-class"] = wanted.kueue.priority_class
        if wanted.autoscaling:
            annotations["kueue.x-k8s.io/elastic-job"] = "true"
    made = installation.object("RayCluster", "ray.io/v1", name, part(wanted), {"spec": _spec(installation, wanted)})
    made["metadata"]["labels"] |= labels
    if annotations:
        made["metadata"]["annotations"] = annotations
    return [made, *([] if wanted.evictable else _budgets(installation, wanted))]


def part(wanted: Cluster, group: str | None = None) -> str:
    """Component label of a cluster's objects, or of one group's pods."""
    return f"ray-{wanted.name}" if group is None else f"ray-{wanted.name}-{group}"


def cluster_label(installation: Installation, wanted: Cluster) -> dict[str, str]:
    """Label of all pods of a cluster."""
    return {"dressage/ray-cluster": installation.name(wanted.name)}


@cache
def ray_version() -> str:
    """The version of Ray in the images."""
    lock = (ROOT / "requirements" / "runtime.lock").read_text()
    found = re.search(r"^ray==([0-9.]+)$", lock, re.MULTILINE)
    if found is None:
        raise ValueError("requirements/runtime.lock names no ray==…; run make lock")
    return found[1]


def _spec(installation: Installation, wanted: Cluster) -> Manifest:
    scaling = wanted.autoscaling
    # Computation runs on the workers, if there are any: the head then offers Ray no cores.
    params = {"num-cpus": "0"} if wanted.workers else {}
    return RayClusterSpec(
        ray_version=ray_version(),
        auth_options=AuthOptions(secret_name=installation.values.secrets.name),
        head_group_spec=HeadGroupSpec(ray_start_params=params, template=_head(installation, wanted)),
        worker_group_specs=tuple(_group(installation, wanted, group) for group in wanted.workers),
        enable_in_tree_autoscaling=scaling is not None,
        autoscaler_options=AutoscalerOptions(
            idle_timeout_seconds=scaling.idle_seconds,
            resources=_size("500m", "1Gi"),
            security_context=locked_down(),
            volume_mounts=({"name": "tmp", "mountPath": commands.TMP},),
        )
        if scaling
        else None,
    ).manifest()


def _head(installation: Installation, wanted: Cluster) -> Manifest:
    template = _template(installation, wanted, wanted.head, "head", labels=REDIS_CLIENT)
    # A restartable init container: the autoscaler sets pods to never restart, so a worker that exits would stay dead.
    template["spec"]["initContainers"] = [_celery(installation, wanted)]
    if wanted.autoscaling:
        # KubeRay sets the account that may request pods, and its autoscaler needs the token.
        del template["spec"]["serviceAccountName"], template["spec"]["automountServiceAccountToken"]
    return template


def _celery(installation: Installation, wanted: Cluster) -> Manifest:
    """The worker of the queue of runs. It starts actors as a driver on the head's own Ray node."""
    return container(
        "celery",
        installation.image(wanted.image),
        commands.cluster_worker(wanted.name),
        _size("500m", "2Gi"),
        restartPolicy="Always",
        env=[
            *redis(installation),
            secret(installation, "DRESSAGE_CLUSTER_SECRET", SECRETS["DRESSAGE_CLUSTER_SECRET"]),
            {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
            {"name": "RAY_ADDRESS", "value": f"$(POD_IP):{GCS_PORT}"},
            *_ray_environment(installation),
            {"name": "DRESSAGE_HEARTBEAT_FILE", "value": commands.HEARTBEAT_FILE},
        ],
        volumeMounts=[HOME_MOUNT, *_SHARED],
        livenessProbe=command_probe(commands.WORKER_IS_ALIVE, failureThreshold=10, initialDelaySeconds=60),
    )


def _group(installation: Installation, wanted: Cluster, group: WorkerGroup) -> WorkerGroupSpec:
    return WorkerGroupSpec(
        group_name=group.name,
        replicas=group.count,
        min_replicas=group.count,
        max_replicas=group.most or group.count,
        ray_start_params={},
        template=_template(installation, wanted, group, group.name),
    )


def _template(
    installation: Installation, wanted: Cluster, node: RayNode, group: str, labels: dict[str, str] | None = None
) -> Manifest:
    """Pod template of one Ray node. KubeRay adds the command, from the limits."""
    probe = {"httpGet": {"path": "/api/local_raylet_healthz", "port": AGENT_PORT}, "timeoutSeconds": 10}
    main: dict[str, Any] = {
        "name": "ray",
        "image": installation.image(wanted.image),
        "imagePullPolicy": "IfNotPresent",
        "env": [*_ray_environment(installation), *_node_environment(installation)],
        "resources": _size(str(node.cpu), node.memory, _devices(node), limit_cpu=True),
        "securityContext": _security(wanted),
        "volumeMounts": [{"name": "tmp", "mountPath": commands.TMP}, HOME_MOUNT, *_SHARED],
        "startupProbe": {**probe, "periodSeconds": 5, "failureThreshold": 60},
        "livenessProbe": {**probe, "periodSeconds": 15, "failureThreshold": 8},
        "readinessProbe": {**probe, "periodSeconds": 10, "failureThreshold": 3},
    }
    shared = node.shared_memory or f"{int(amount(node.memory) / 3 / 2**20)}Mi"
    made = pod(
        installation,
        part(wanted, group),
        [main],
        labels={**cluster_label(installation, wanted), **(labels or {})},
        volumes=[
            home_volume(installation),
            {"name": "ray-logs", "emptyDir": {}},
            {"name": "shared-mem", "emptyDir": {"medium": "Memory", "sizeLimit": shared}},
        ],
        terminationGracePeriodSeconds=120,
        **_scheduling(node, wanted),
    )
    # KubeRay finds its head by its own application name.
    del made["metadata"]["labels"]["app.kubernetes.io/name"]
    return made


def _ray_environment(installation: Installation) -> list[Manifest]:
    return [
        {"name": "RAY_AUTH_MODE", "value": "token"},
        secret(installation, "RAY_AUTH_TOKEN", "auth_token"),
        {"name": "RAY_USAGE_STATS_ENABLED", "value": "0"},
        {"name": "HOME", "value": commands.TMP},
    ]


def _node_environment(installation: Installation) -> list[Manifest]:
    """Variables that ``manage.py up`` also sets for its own head: a run's own monitoring decides, not Ray's."""
    variables = {
        "RAY_DEDUP_LOGS": "0",
        "RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S": "0",
        "RAY_memory_monitor_refresh_ms": "0",
        "RAY_worker_niceness": "0",
        **({"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"} if installation.values.air_gap else {}),
    }
    return [{"name": name, "value": value} for name, value in variables.items()]


def _security(wanted: Cluster) -> Manifest:
    context = locked_down()
    if wanted.code_jail:
        context |= {"seccompProfile": {"type": "Unconfined"}, "procMount": "Unmasked"}
    return context


def _size(cpu: str, memory: str, devices: Manifest | None = None, limit_cpu: bool = False) -> Manifest:
    devices = devices or {}
    limits = {"memory": memory, **({"cpu": cpu} if limit_cpu else {}), **devices}
    return {"requests": {"cpu": cpu, "memory": memory, **devices}, "limits": limits}


def _devices(node: RayNode) -> Manifest:
    counted = {**({node.gpu_resource: node.gpus} if node.gpus else {}), **node.devices}
    return {name: str(number) for name, number in counted.items()}


def _scheduling(node: RayNode, wanted: Cluster) -> Manifest:
    tolerations = [
        {
            "key": one.key,
            "operator": "Exists" if one.value is None else "Equal",
            **({"value": one.value} if one.value is not None else {}),
            **({"effect": one.effect} if one.effect else {}),
        }
        for one in node.tolerations
    ]
    return {
        **({"nodeSelector": dict(node.node_selector)} if node.node_selector else {}),
        **({"tolerations": tolerations} if tolerations else {}),
        **({"runtimeClassName": node.runtime_class} if node.runtime_class else {}),
        **({"hostUsers": False} if wanted.code_jail else {}),
    }


def _budgets(installation: Installation, wanted: Cluster) -> list[Manifest]:
    """Budgets that keep nodes of active runs from being drained. Pods of a RayCluster only allow an absolute number."""
    numbers = {"head": 1} | {group.name: group.most or group.count for group in wanted.workers}
    return [
        budget(installation, part(wanted, group), installation.selector(part(wanted, group)), minAvailable=number)
        for group, number in numbers.items()
        if number
    ]
