"""Kubernetes' own schemas, as the package kubernetes-validate carries them, with unknown fields refused.

They are compiled by jsonschema-rs, because the package's own validator takes a second for each object.
"""

import json
import os
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema_rs
import yaml
from pydantic import ValidationError

from deploy.kubernetes.kuberay import RayClusterSpec
from tests.deploy.reading import Json, pod_templates

VERSION = "v1.33.0-local-strict"
"""The oldest release whose fields the manifests use; later ones take away none of them."""
KINDS = {
    "ConfigMap": "io.k8s.api.core.v1.ConfigMap",
    "CronJob": "io.k8s.api.batch.v1.CronJob",
    "Deployment": "io.k8s.api.apps.v1.Deployment",
    "Ingress": "io.k8s.api.networking.v1.Ingress",
    "Job": "io.k8s.api.batch.v1.Job",
    "NetworkPolicy": "io.k8s.api.networking.v1.NetworkPolicy",
    "PersistentVolumeClaim": "io.k8s.api.core.v1.PersistentVolumeClaim",
    "PodDisruptionBudget": "io.k8s.api.policy.v1.PodDisruptionBudget",
    "PodTemplate": "io.k8s.api.core.v1.PodTemplateSpec",
    "Service": "io.k8s.api.core.v1.Service",
    "ServiceAccount": "io.k8s.api.core.v1.ServiceAccount",
    "StatefulSet": "io.k8s.api.apps.v1.StatefulSet",
}


def faults(manifest: Json) -> list[str]:
    """What Kubernetes, or KubeRay's part that we use, would refuse. Objects that were seen are not looked at again."""
    return list(_faults(json.dumps(manifest, sort_keys=True)))


@cache
def _faults(text: str) -> tuple[str, ...]:
    manifest = json.loads(text)
    place = f"{manifest['kind']}/{manifest['metadata']['name']}"
    if manifest["kind"] != "RayCluster":
        return tuple(_told(place, _validator(manifest["kind"]), manifest))
    found = [fault for where, pod in pod_templates(manifest) for fault in _told(where, _validator("PodTemplate"), pod)]
    try:
        RayClusterSpec.model_validate(manifest["spec"])
    except ValidationError as error:
        found.append(f"{place}: {error}")
    return tuple(found)


def _told(place: str, validator: Any, document: Json) -> Iterator[str]:
    for error in validator.iter_errors(document):
        yield f"{place}: {'/'.join(map(str, error.instance_path))}: {error.message}"


@cache
def _definitions() -> Json:
    folder = files("kubernetes_validate") / "kubernetes-json-schema" / VERSION
    definitions: Json = json.loads((folder / "_definitions.json").read_text())["$defs"]
    return definitions


@cache
def _validator(kind: str) -> Any:
    schema = {"$ref": f"#/$defs/{KINDS[kind]}", "$defs": _definitions()}
    return jsonschema_rs.Draft202012Validator(schema)


def kuberay_validator(folder: Path) -> Any:
    """KubeRay's own schema of a RayCluster, of the folder with its CRDs, with unknown fields refused."""
    document = yaml.load(
        (folder / "ray.io_rayclusters.yaml").read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    )
    (version,) = [version for version in document["spec"]["versions"] if version["name"] == "v1"]
    return jsonschema_rs.Draft7Validator(_strict(version["schema"]["openAPIV3Schema"]))


def kuberay_folder() -> Path | None:
    """The folder that ``KUBERAY_CRDS`` names, such as helm-chart/kuberay-operator/crds of a checkout of KubeRay."""
    return Path(os.environ["KUBERAY_CRDS"]) if "KUBERAY_CRDS" in os.environ else None


def _strict(node: Any) -> Any:
    """JSON Schema of what Kubernetes writes its own way."""
    if isinstance(node, list):
        return [_strict(one) for one in node]
    if not isinstance(node, dict):
        return node
    if node.get("x-kubernetes-int-or-string"):
        return {"type": ["integer", "string"]}
    made = {key: _strict(value) for key, value in node.items() if not key.startswith("x-") and key != "format"}
    # `metadata` of the whole object is left open: Kubernetes checks it by itself.
    if (
        node.get("properties")
        and "additionalProperties" not in node
        and not node.get("x-kubernetes-preserve-unknown-fields")
    ):
        made["additionalProperties"] = False
    return made
