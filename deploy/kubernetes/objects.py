"""Common parts of all objects: names, labels, and the installation that they belong to."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deploy.images.lock import Image
from deploy.kubernetes.values import Values

Manifest = dict[str, Any]
"""A Kubernetes object, or a part of one."""
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
        """Reference of an image by digest. Raises LockError if the lock has none."""
        return self.images[name].reference(self.values.registry)

    def selector(self, part: str) -> dict[str, str]:
        """Labels that select a part's pods."""
        return {"app.kubernetes.io/instance": self.values.name, "app.kubernetes.io/component": part}

    def labels(self, part: str) -> dict[str, str]:
        """Labels of a part's objects. None is selected by the application's name: KubeRay sets another on its pods."""
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
    """Short digest of a document, for names that change with it."""
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()[:10]
