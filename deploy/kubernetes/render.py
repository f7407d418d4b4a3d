"""All manifests of an installation, and their YAML."""

from collections.abc import Mapping
from typing import Any

import yaml

from deploy.images.lock import Image
from deploy.kubernetes import clusters, entrance, network, platform, servers
from deploy.kubernetes.backups import backups
from deploy.kubernetes.objects import Installation, Manifest
from deploy.kubernetes.values import Values


def render(values: Values, images: Mapping[str, Image]) -> list[Manifest]:
    """Every object, in the order of creation. Raises LockError for an image without a digest."""
    installation = Installation(values, images)
    no_token = {"automountServiceAccountToken": False}
    account = installation.object("ServiceAccount", "v1", values.name, "account", no_token)
    return [
        account,
        *network.policies(installation),
        platform.settings(installation),
        *servers.claim(installation, "home", values.storage, "ReadWriteMany"),
        *servers.postgres(installation),
        *servers.redis(installation),
        platform.migrations(installation),
        *platform.web(installation),
        *platform.workers(installation),
        platform.beat(installation),
        *entrance.ingress(installation),
        *backups(installation),
        *(made for wanted in values.clusters for made in clusters.cluster(installation, wanted)),
    ]


def text_of(manifests: list[Manifest]) -> str:
    """The objects as one YAML stream, without aliases."""
    return yaml.dump_all(manifests, Dumper=_Plain, sort_keys=False, width=120)


class _Plain(yaml.SafeDumper):
    """Writes no aliases: they are valid YAML, but hard for people to review."""

    def ignore_aliases(self, data: Any) -> bool:
        return True
