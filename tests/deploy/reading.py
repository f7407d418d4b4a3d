"""What tests ask of rendered manifests."""

from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]


def pod_templates(manifest: Json) -> Iterator[tuple[str, Json]]:
    """(place, template) of every pod that an object makes."""
    spec, place = manifest.get("spec", {}), f"{manifest['kind']}/{manifest['metadata']['name']}"
    match manifest["kind"]:
        case "Deployment" | "StatefulSet" | "Job":
            yield place, spec["template"]
        case "CronJob":
            yield place, spec["jobTemplate"]["spec"]["template"]
        case "RayCluster":
            yield f"{place}/head", spec["headGroupSpec"]["template"]
            for group in spec.get("workerGroupSpecs", ()):
                yield f"{place}/{group['groupName']}", group["template"]


def containers(template: Json) -> Iterator[Json]:
    """All containers of a pod, those that run before it too."""
    yield from template["spec"].get("initContainers", ())
    yield from template["spec"]["containers"]


def every(manifests: list[Json]) -> Iterator[tuple[str, Json, Json]]:
    """(place, pod template, container) of each container."""
    for manifest in manifests:
        for place, template in pod_templates(manifest):
            for container in containers(template):
                yield f"{place}/{container['name']}", template, container


def of_kind(manifests: list[Json], kind: str) -> list[Json]:
    return [manifest for manifest in manifests if manifest["kind"] == kind]


def named(manifests: list[Json], kind: str, name: str) -> Json:
    """The one object of that kind and name."""
    (found,) = [one for one in of_kind(manifests, kind) if one["metadata"]["name"] == name]
    return found


def selects(selector: Json, labels: Json) -> bool:
    """Whether a label selector picks these labels."""
    wanted = all(labels.get(key) == value for key, value in selector.get("matchLabels", {}).items())
    rules = selector.get("matchExpressions", ())
    assert all(rule["operator"] == "Exists" for rule in rules)
    return wanted and all(rule["key"] in labels for rule in rules)


def may_reach(manifests: list[Json], source: Json, target: Json, port: int) -> bool:
    """Whether network policies let a pod with labels ``source`` reach ``port`` of one with labels ``target``."""
    chosen = [
        policy["spec"]
        for policy in of_kind(manifests, "NetworkPolicy")
        if "Ingress" in policy["spec"]["policyTypes"] and selects(policy["spec"]["podSelector"], target)
    ]
    if not chosen:
        return True
    rules = [rule for spec in chosen for rule in spec["ingress"]]
    return any(
        any("podSelector" in peer and selects(peer["podSelector"], source) for peer in rule["from"])
        and port in [entry["port"] for entry in rule.get("ports", [{"port": port}])]
        for rule in rules
    )
