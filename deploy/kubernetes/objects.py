"""Common parts of all objects: names, labels, and the installation that they are made for."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deploy.images.lock import Image
from deploy.kubernetes.values import Values

Manifest = dict[str, Any]
"""One object of Kubernetes, or a part of one."""
DATABASE_CLIENT = {"dressage/database": "client"}
"""Label of pods that may reach PostgreSQL."""
REDIS_CLIENT = {"dressage/redis": "client"}
"""Label of pods that may reach Redis."""


@dataclass(frozen=True)
class Installation:
    """Values, and the images that they are deployed with."""

    values: Values
    images: Mapping[str, Image]

    def name(self, part: str) -> str:
        """Name of a part's objects."""
        return f"{self.values.name}-{part}"

    def image(self, name: str) -> str:
        """Reference of an image by digest. Raises LockError where the lock has none."""
        return self.images[name].reference(self.values.registry)

    def selector(self, part: str) -> dict[str, str]:
        """Labels by which a part's pods are found."""
        return {"app.kubernetes.io/instance": self.values.name, "app.kubernetes.io/component": part}

    def labels(self, part: str) -> dict[str, str]:
        """Labels of a part's objects. None is selected by the application's name: KubeRay gives its pods another."""
        return {
            "app.kubernetes.io/name": "dressage",
            **self.selector(part),
            "app.kubernetes.io/part-of": "dressage",
            "app.kubernetes.io/managed-by": "dressage-manifests",
        }

    def object(
        self, kind: str, version: str, name: str, part: str, body: Manifest, annotations: Manifest | None = None
    ) -> Manifest:
        """An object with its metadata."""
        metadata: Manifest = {"name": name, "namespace": self.values.namespace, "labels": self.labels(part)}
        if annotations:
            metadata["annotations"] = annotations
        return {"apiVersion": version, "kind": kind, "metadata": metadata, **body}


def digest_of(document: object) -> str:
    """Short digest of a document: a name that changes with it."""
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()[:10]
