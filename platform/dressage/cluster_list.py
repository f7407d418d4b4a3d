"""The clusters of an installation, as the operator configures them: names, addresses, and Ray's token files."""

import re
from dataclasses import dataclass
from pathlib import Path

from trainer_core.link.celery_queue import DEFAULT_CLUSTER

LOCAL = "local"
"""Address of the Ray head that ``manage.py up`` starts itself."""
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}", re.ASCII)


@dataclass(frozen=True, slots=True)
class NamedCluster:
    """One cluster of the installation."""

    name: str
    address: str | None
    """``host:port`` of its GCS; ``local`` for a head on this machine; None if its worker runs elsewhere."""
    token_file: Path | None = None
    """File with the token that its Ray requires; None: the token from the environment."""

    @property
    def is_local(self) -> bool:
        return self.address == LOCAL


def read_clusters(text: str, token_files: str, ray_address: str | None) -> tuple[NamedCluster, ...]:
    """The clusters of ``name=address,name=address,name``; one named ``default`` if the text is empty.

    Args:
        text: DRESSAGE_CLUSTERS.
        token_files: DRESSAGE_CLUSTER_TOKEN_FILES, ``name=path,name=path``.
        ray_address: RAY_ADDRESS, for an installation that names no clusters.

    Raises:
        ValueError: with a sentence about the variable that is not valid.
    """
    files = _pairs(token_files, "DRESSAGE_CLUSTER_TOKEN_FILES")
    given = _pairs(text, "DRESSAGE_CLUSTERS") or {DEFAULT_CLUSTER: ray_address or LOCAL}
    for name, path in files.items():
        if name not in given:
            raise ValueError(
                f"DRESSAGE_CLUSTER_TOKEN_FILES names {name!r}, which is not one of the clusters {', '.join(given)}"
            )
        if not path or given[name] == LOCAL:
            raise ValueError(f"DRESSAGE_CLUSTER_TOKEN_FILES: {name!r} needs a path, and an address that is not 'local'")
    if sum(address == LOCAL for address in given.values()) > 1:
        raise ValueError("DRESSAGE_CLUSTERS: only one cluster can be 'local', the Ray head of this machine")
    return tuple(
        NamedCluster(name, address or None, Path(files[name]) if name in files else None)
        for name, address in given.items()
    )


def _pairs(text: str, variable: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = (side.strip() for side in part.partition("="))
        if not _NAME.fullmatch(name):
            raise ValueError(
                f"{variable}: {name!r} is not a cluster name; use 1 to 63 lower-case letters, digits and -"
            )
        if name in found:
            raise ValueError(f"{variable} names {name!r} twice")
        found[name] = value
    return found
