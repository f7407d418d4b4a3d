"""Values of more than two hundred installations: each choice with each other one that it might collide with."""

from collections.abc import Iterator
from itertools import product
from typing import Any

from deploy.images.lock import Image, read_lock
from deploy.kubernetes.reading import parse_values
from deploy.kubernetes.values import Values

DIGESTS = {name: f"sha256:{number:064x}" for number, name in enumerate(sorted(read_lock()), start=0xD0)}
POSTGRES: list[dict[str, Any]] = [
    {},
    {"postgres": {"kind": "external", "networks": ["10.7.0.0/24"]}},
]
REDIS: list[dict[str, Any]] = [
    {"redis": {"kind": "bundled", "size": "8Gi", "storage_class": "fast"}},
    {"redis": {"kind": "external", "networks": ["10.8.0.0/24"]}},
]
_PROXIES = {"trusted_proxies": ["10.2.0.0/16"]}
INGRESS: list[dict[str, Any]] = [
    {},
    {"ingress": {"tls_secret": "console-tls", **_PROXIES}},
    {
        "ingress": {
            "class_name": "traefik",
            "tls_secret": "console-tls",
            "from_namespace": "traefik",
            "annotations": {"cert-manager.io/cluster-issuer": "internal"},
            **_PROXIES,
        }
    },
]
WAYS_OUT: list[dict[str, Any]] = [
    {},
    {"network": {"egress": "closed", "allowed": ["10.20.0.0/16"], "api_server": "10.96.0.1/32"}},
    {
        "air_gap": True,
        "registry": "registry.example.com:5000/mirror",
        "network": {"api_server": "10.96.0.1/32"},
        "settings": {"HF_ENDPOINT": "https://hub.example.com"},
    },
]
_H100 = {"cpu": 96, "memory": "1Ti", "gpus": 8, "shared_memory": "256Gi", "devices": {"rdma/ib": 8}}
_TAINTED = {"tolerations": [{"key": "nvidia.com/gpu", "effect": "NoSchedule"}, {"key": "team", "value": "rl"}]}
CLUSTERS: list[list[dict[str, Any]]] = [
    [],
    [{"name": "small", "image": "cpu"}],
    [{"name": "box", "head": {"gpus": 1, "runtime_class": "nvidia"}, "evictable": True}],
    [{"name": "big", "workers": [{"name": "h100", "count": 128, **_H100, **_TAINTED}], "code_jail": True}],
    [
        {
            "name": "elastic",
            "workers": [
                {"name": "learners", "count": 0, "most": 8, **_H100},
                {"name": "rollouts", "count": 1, "most": 64, "cpu": 16, "memory": "128Gi", "gpus": 1},
            ],
            "autoscaling": {"idle_seconds": 300},
            "kueue": {"queue": "rl", "priority_class": "research"},
        }
    ],
    [
        {"name": "cpus", "image": "cpu", "workers": [{"name": "nodes", "count": 3}], "kueue": {"queue": "cpus"}},
        {
            "name": "slices",
            "workers": [
                {
                    "name": "mig",
                    "count": 2,
                    "gpus": 2,
                    "gpu_resource": "nvidia.com/mig-3g.40gb",
                    "node_selector": {"nvidia.com/gpu.product": "A100"},
                }
            ],
        },
    ],
]
MORE: list[dict[str, Any]] = [
    {},
    {"backups": None, "web": {"replicas": 1}},
    {
        "secrets": {"name": "keys", "extra": {"DRESSAGE_EMAIL_URL": "email-url"}, "pull": "registry-login"},
        "storage": {"existing_claim": "shared-data"},
    },
    {
        "backups": {"schedule": "0 * * * *", "keep": 48, "storage": {"existing_claim": "vault"}},
        "web": {"replicas": 12, "resources": {"cpu": "2", "memory": "4Gi"}},
        "workers": {"replicas": 3, "threads": 16},
        "name": "stable",
        "further_clusters": ["elsewhere"],
        "namespace": "rl",
    },
    {"storage": {"size": "20Ti", "storage_class": "shared"}, "backups": {"storage": {"size": "40Ti"}}},
]
"""Choices that stand alone: they take turns."""


def images() -> dict[str, Image]:
    """The lock's images, each with a digest."""
    return {name: Image(name, image.repository, DIGESTS[name], image.tag) for name, image in read_lock().items()}


def documents() -> Iterator[tuple[str, dict[str, Any]]]:
    """(name, values) of each combination."""
    axes = [POSTGRES, REDIS, INGRESS, WAYS_OUT, CLUSTERS]
    for turn, places in enumerate(product(*(range(len(axis)) for axis in axes))):
        postgres, redis, ingress, way_out, clusters = (axis[place] for axis, place in zip(axes, places, strict=True))
        parts = [postgres, redis, ingress, way_out, {"clusters": clusters}, MORE[turn % len(MORE)]]
        merged: dict[str, Any] = {"url": "https://dressage.example.com"}
        for part in parts:
            merged |= part  # type: ignore[arg-type]
        yield "-".join(map(str, places)), merged


def installations() -> Iterator[tuple[str, Values]]:
    """(name, values) of each combination, checked."""
    for name, document in documents():
        yield name, parse_values(document)
