"""More than two hundred installations: each is valid for Kubernetes, and what must hold in all of them holds."""

import json
import re
from typing import Any

import pytest
import yaml

from deploy.commands import BEAT, WEB, cluster_worker, platform_worker
from deploy.images.lock import read_lock
from deploy.kubernetes.__main__ import main
from deploy.kubernetes.checks import ValuesPart
from deploy.kubernetes.render import render, text_of
from deploy.kubernetes.values import Values
from dressage.config import Config, config
from dressage.supervisor.processes import services
from tests.deploy.matrix import DIGESTS, images, installations
from tests.deploy.reading import Json, every, may_reach, named, of_kind, pod_templates, selects
from tests.deploy.schemas import faults, kuberay_folder, kuberay_validator
from tests.support.about import INSTALLATION
from trainer_core.link.celery_queue import queue_of


@pytest.fixture(scope="module")
def rendered() -> list[tuple[str, Values, list[Json]]]:
    """Each combination with its manifests."""
    return [(name, values, render(values, images())) for name, values in installations()]


def test_there_are_two_hundred_different_installations(rendered: list[tuple[str, Values, list[Json]]]) -> None:
    assert len({json.dumps(manifests) for _, _, manifests in rendered}) == len(rendered) >= 200


def test_every_object_is_valid_for_kubernetes(rendered: list[tuple[str, Values, list[Json]]]) -> None:
    found = [f"{name}: {fault}" for name, _, manifests in rendered for one in manifests for fault in faults(one)]
    assert found == []


def test_the_check_of_objects_sees_what_is_wrong(rendered: list[tuple[str, Values, list[Json]]]) -> None:
    manifests = yaml.safe_load_all(text_of(rendered[-1][2]))
    broken = {one["kind"]: one for one in manifests}
    broken["Deployment"]["spec"]["template"]["spec"]["containers"][0]["imagePullPolice"] = "Always"
    broken["Service"]["spec"]["ports"][0]["port"] = "http"
    broken["RayCluster"]["spec"]["headGroupSpec"]["template"]["spec"]["containers"][0]["env"][0]["valu"] = "x"
    broken["Job"]["spec"]["backoffLimit"] = "often"
    assert all(faults(broken[kind]) for kind in ("Deployment", "Service", "RayCluster", "Job"))
    assert not faults(broken["StatefulSet"] if "StatefulSet" in broken else broken["ConfigMap"])


@pytest.mark.skipif(kuberay_folder() is None, reason="KUBERAY_CRDS names no folder with KubeRay's CRDs")
def test_clusters_are_valid_for_kuberay_itself(rendered: list[tuple[str, Values, list[Json]]]) -> None:
    folder = kuberay_folder()
    assert folder is not None
    validator = kuberay_validator(folder)
    made = [one for _, _, manifests in rendered for one in of_kind(manifests, "RayCluster")]
    different = {json.dumps(one, sort_keys=True) for one in made}
    found = [error for one in different for error in validator.iter_errors(json.loads(one))]
    assert [f"{error.instance_path}: {error.message[:200]}" for error in found] == []
    broken = json.loads(min(different))
    broken["spec"]["headGroupSpec"]["rayStartParam"] = {}
    assert not validator.is_valid(broken)


def test_names_are_given_once_and_everything_is_labelled(rendered: list[tuple[str, Values, list[Json]]]) -> None:
    for name, values, manifests in rendered:
        names = [(one["kind"], one["metadata"]["name"]) for one in manifests]
        assert len(set(names)) == len(names), name
        for one in manifests:
            assert one["metadata"]["namespace"] == values.namespace
            assert {"app.kubernetes.io/instance", "app.kubernetes.io/component"} <= set(one["metadata"]["labels"])
            assert len(one["metadata"]["name"]) <= 52, "the longest name that leaves room for what KubeRay and jobs add"


def test_every_image_is_one_of_the_lock_by_digest(rendered: list[tuple[str, Values, list[Json]]]) -> None:
    repositories = {image.repository: DIGESTS[name] for name, image in read_lock().items()}
    for name, values, manifests in rendered:
        for place, _, container in every(manifests):
            reference, digest = container["image"].split("@")
            prefix = f"{values.registry}/" if values.registry else ""
            assert reference.startswith(prefix), (name, place)
            assert repositories[reference.removeprefix(prefix)] == digest, (name, place)
            assert container["imagePullPolicy"] == "IfNotPresent"


def test_no_container_is_root_or_writes_to_its_root(rendered: list[tuple[str, Values, list[Json]]]) -> None:
    for name, values, manifests in rendered:
        jailed = {f"RayCluster/{values.name}-{one.name}" for one in values.clusters if one.code_jail}
        for place, template, container in every(manifests):
            pod, own = template["spec"]["securityContext"], container["securityContext"]
            assert pod["runAsNonRoot"] and pod["runAsUser"] > 0, (name, place)
            assert own["readOnlyRootFilesystem"] and own["runAsNonRoot"] and not own["allowPrivilegeEscalation"]
            assert own["capabilities"] == {"drop": ["ALL"]} and not own.get("privileged")
            is_jailed = place.endswith("/ray") and place.rsplit("/", 2)[0] in jailed
            assert own["seccompProfile"]["type"] == ("Unconfined" if is_jailed else "RuntimeDefault"), (name, place)
            assert template["spec"].get("hostUsers", True) is not (place.rsplit("/", 2)[0] in jailed), (name, place)
            assert not {"hostNetwork", "hostPID", "hostIPC"} & set(template["spec"])


def test_every_container_has_a_size_and_every_service_probes(rendered: list[tuple[str, Values, list[Json]]]) -> None:
    once = {"migrate", "backup", "wait-for-migrations"}
    for name, _, manifests in rendered:
        for place, _, container in every(manifests):
            asked, most = container["resources"]["requests"], container["resources"]["limits"]
            assert asked["memory"] == most["memory"] and asked["cpu"], (name, place)
            if container["name"] not in once:
                assert "livenessProbe" in container, (name, place)


def test_probes_ask_what_the_platform_answers(rendered: list[tuple[str, Values, list[Json]]]) -> None:
    asked = {
        container[probe]["httpGet"]["path"]
        for _, _, manifests in rendered
        for _, _, container in every(manifests)
        for probe in ("startupProbe", "livenessProbe", "readinessProbe")
        if "httpGet" in container.get(probe, {})
    }
    assert asked == {"/health/live", "/health/ready", "/api/local_raylet_healthz"}


def test_what_serves_has_a_disruption_budget(rendered: list[tuple[str, Values, list[Json]]]) -> None:
    for name, values, manifests in rendered:
        budgets = [one["spec"]["selector"] for one in of_kind(manifests, "PodDisruptionBudget")]
        drained = {f"RayCluster/{values.name}-{one.name}" for one in values.clusters if one.evictable}
        for manifest in manifests:
            for place, template in pod_templates(manifest):
                chosen = [one for one in budgets if selects(one, template["metadata"]["labels"])]
                free = manifest["kind"] in ("Job", "CronJob") or place.endswith("-beat")
                free = free or place.rsplit("/", 1)[0] in drained
                assert len(chosen) == (0 if free else 1), (name, place)


def test_every_name_that_is_referred_to_exists(rendered: list[tuple[str, Values, list[Json]]]) -> None:
    for name, values, manifests in rendered:
        there = {(one["kind"], one["metadata"]["name"]) for one in manifests}
        given = {("PersistentVolumeClaim", storage.existing_claim) for storage in _storages(values)}
        secrets = {values.secrets.name, values.secrets.pull, values.ingress.tls_secret if values.ingress else None}
        given |= {("Secret", secret) for secret in secrets}
        for kind, reference in _references(manifests):
            assert (kind, reference) in there | given, (name, kind, reference)
        for one in of_kind(manifests, "Secret"):
            raise AssertionError(f"{name}: a secret in a manifest: {one}")


def _storages(values: Values) -> list[Any]:
    return [values.storage, *([values.backups.storage] if values.backups else [])]


def _references(node: Any) -> list[tuple[str, str]]:
    """(kind, name) of all that a document refers to."""
    found: list[tuple[str, str]] = []
    if isinstance(node, list):
        return [reference for one in node for reference in _references(one)]
    if not isinstance(node, dict):
        return found
    for key, value in node.items():
        match key:
            case "configMapRef" | "configMapKeyRef" | "configMap":
                found.append(("ConfigMap", value["name"]))
            case "secretKeyRef":
                found.append(("Secret", value["name"]))
            case "imagePullSecrets":
                found += [("Secret", one["name"]) for one in value]
            case "secretName":
                found.append(("Secret", value))
            case "claimName":
                found.append(("PersistentVolumeClaim", value))
            case "serviceAccountName":
                found.append(("ServiceAccount", value))
            case "serviceName":
                found.append(("Service", value))
            case "service" if isinstance(value, dict) and "name" in value:
                found.append(("Service", value["name"]))
            case _:
                found += _references(value)
    return found


def test_addresses_in_the_settings_are_services(rendered: list[tuple[str, Values, list[Json]]]) -> None:
    for _, values, manifests in rendered:
        services_there = {one["metadata"]["name"] for one in of_kind(manifests, "Service")}
        own = set(re.findall(rf"(?:@|//)({values.name}-[a-z]+):\d+", json.dumps(manifests)))
        assert own and own <= services_there


def test_selectors_choose_the_pods_that_they_are_for(rendered: list[tuple[str, Values, list[Json]]]) -> None:
    for name, _, manifests in rendered:
        pods = {place: template["metadata"]["labels"] for one in manifests for place, template in pod_templates(one)}
        for one in manifests:
            place = f"{one['kind']}/{one['metadata']['name']}"
            if one["kind"] in ("Deployment", "StatefulSet"):
                chosen = [other for other, labels in pods.items() if selects(one["spec"]["selector"], labels)]
                assert chosen == [place], name
            if one["kind"] == "Service":
                selector = {"matchLabels": one["spec"]["selector"]}
                chosen = [other for other, labels in pods.items() if selects(selector, labels)]
                assert [other.split("/")[1] for other in chosen] == [one["metadata"]["name"]], name
                ports = {port["name"] for port in _main(manifests, chosen[0])["ports"]}
                assert {port["targetPort"] for port in one["spec"]["ports"]} <= ports


def _main(manifests: list[Json], place: str) -> Json:
    kind, name = place.split("/")[:2]
    main_container: Json = named(manifests, kind, name)["spec"]["template"]["spec"]["containers"][0]
    return main_container


@pytest.mark.expensive(2, "renders many installations", about=INSTALLATION)
def test_nothing_comes_in_but_what_is_used(rendered: list[tuple[str, Values, list[Json]]]) -> None:
    """GCS, raylet, dashboard, client and worker ports of Ray are open to the cluster's own pods alone."""
    all_ports = {6379, 8265, 10001, 52365, 8076, 10002, 19999, 5432, 8600}
    for name, _, manifests in rendered:
        pods = {place: template["metadata"]["labels"] for one in manifests for place, template in pod_templates(one)}
        pods["a stranger"] = {"app": "notebook"}
        for source, from_labels in pods.items():
            for target, to_labels in pods.items():
                if target == "a stranger":
                    continue
                pair = (name, source, target)
                open_ports = {port for port in all_ports if may_reach(manifests, from_labels, to_labels, port)}
                if target.startswith("RayCluster/"):
                    own = source.startswith("RayCluster/") and source.split("/")[1] == target.split("/")[1]
                    assert (open_ports == all_ports) if own else not open_ports, pair
                elif target.endswith("-web"):
                    assert open_ports == ({8600} if source.startswith("RayCluster/") else set()), pair
                elif target.endswith("-postgres"):
                    platform = source.split("-")[-1] in ("web", "workers", "beat", "backup") or "-migrate-" in source
                    assert open_ports == ({5432} if platform else set()), pair
                elif target.endswith("-redis"):
                    client = source.endswith(("-web", "-workers", "-beat", "/head")) or "-migrate-" in source
                    assert open_ports == ({6379} if client else set()), pair
                else:
                    assert not open_ports, pair


def test_a_closed_way_out_leads_to_named_networks_alone(rendered: list[tuple[str, Values, list[Json]]]) -> None:
    for _, values, manifests in rendered:
        rules = named(manifests, "NetworkPolicy", f"{values.name}-egress-network")["spec"]["egress"]
        blocks = [peer["ipBlock"] for rule in rules for peer in rule["to"] if "ipBlock" in peer]
        if values.air_gap or values.network.egress == "closed":
            assert "0.0.0.0/0" not in [block["cidr"] for block in blocks]
        else:
            assert blocks[0] == {"cidr": "0.0.0.0/0", "except": ["169.254.169.254/32"]}
        if values.air_gap:
            data = named(manifests, "ConfigMap", f"{values.name}-settings")["data"]
            assert data["HF_HUB_OFFLINE"] == "true"


def test_no_secret_has_its_value_in_a_manifest(rendered: list[tuple[str, Values, list[Json]]]) -> None:
    secret_names = re.compile(r"PASSWORD|SECRET|TOKEN|KEY|_URL$")
    public = {"DRESSAGE_URL", "LINK_URL"}
    for name, _, manifests in rendered:
        for place, _, container in every(manifests):
            for variable in container.get("env", ()):
                if secret_names.search(variable["name"]) and variable["name"] not in public:
                    held = variable.get("value", "")
                    assert "valueFrom" in variable or re.search(r":\$\([A-Z_]+\)@", held), (name, place, variable)
        for one in of_kind(manifests, "ConfigMap"):
            assert not {key for key in one["data"] if secret_names.search(key)} - public, name


def test_migrations_are_a_job_and_never_a_hook(rendered: list[tuple[str, Values, list[Json]]]) -> None:
    for _, values, manifests in rendered:
        assert "helm.sh/hook" not in json.dumps(manifests)
        (job,) = of_kind(manifests, "Job")
        assert job["spec"]["template"]["spec"]["containers"][0]["command"][:3] == ["python", "manage.py", "migrate"]
        for one in of_kind(manifests, "Deployment"):
            first = one["spec"]["template"]["spec"]["initContainers"][0]
            assert first["command"] == ["python", "manage.py", "wait_for_migrations"]
        assert named(manifests, "Deployment", f"{values.name}-beat")["spec"]["replicas"] == 1
        assert named(manifests, "Deployment", f"{values.name}-beat")["spec"]["strategy"] == {"type": "Recreate"}


def test_another_release_has_another_job(rendered: list[tuple[str, Values, list[Json]]]) -> None:
    _, values, manifests = rendered[0]
    newer = images()
    newer["web"] = type(newer["web"])("web", newer["web"].repository, f"sha256:{'9' * 64}")
    (old,), (new,) = of_kind(manifests, "Job"), of_kind(render(values, newer), "Job")
    assert old["metadata"]["name"] != new["metadata"]["name"]
    assert of_kind(render(values, images()), "Job") == [old]


def test_clusters_are_what_was_asked_for(rendered: list[tuple[str, Values, list[Json]]]) -> None:
    for _, values, manifests in rendered:
        assert len(of_kind(manifests, "RayCluster")) == len(values.clusters)
        for wanted in values.clusters:
            made = named(manifests, "RayCluster", f"{values.name}-{wanted.name}")
            spec = made["spec"]
            assert spec["authOptions"] == {"mode": "token", "secretName": values.secrets.name}
            assert spec["enableInTreeAutoscaling"] is (wanted.autoscaling is not None)
            assert ("autoscalerOptions" in spec) is (wanted.autoscaling is not None)
            queue = made["metadata"]["labels"].get("kueue.x-k8s.io/queue-name")
            assert queue == (wanted.kueue.queue if wanted.kueue else None)
            head = spec["headGroupSpec"]["template"]["spec"]
            (celery,) = head["initContainers"]
            assert celery["restartPolicy"] == "Always" and celery["image"] == head["containers"][0]["image"]
            shared = {"ray-logs", "shared-mem", "home"}
            for container in (celery, head["containers"][0]):
                assert shared <= {mount["name"] for mount in container["volumeMounts"]}
            for group, asked in zip(spec["workerGroupSpecs"], wanted.workers, strict=True):
                limits = group["template"]["spec"]["containers"][0]["resources"]["limits"]
                assert limits.get(asked.gpu_resource) == (str(asked.gpus) if asked.gpus else None)
                assert (group["minReplicas"], group["maxReplicas"]) == (asked.count, asked.most or asked.count)


def test_each_cluster_has_its_own_queue(rendered: list[tuple[str, Values, list[Json]]]) -> None:
    for _, values, manifests in rendered:
        names = [one.name for one in values.clusters] + list(values.further_clusters)
        data = named(manifests, "ConfigMap", f"{values.name}-settings")["data"]
        assert data.get("DRESSAGE_CLUSTERS", "") == ",".join(names)
        given = Config.model_validate({"DRESSAGE_CLUSTERS": ",".join(names)})
        assert [one.name for one in given.resolved_clusters if one.address is None] == names
        for made, wanted in zip(of_kind(manifests, "RayCluster"), values.clusters, strict=True):
            (celery,) = made["spec"]["headGroupSpec"]["template"]["spec"]["initContainers"]
            assert celery["command"][celery["command"].index("-Q") + 1] == queue_of(wanted.name)


def test_commands_are_those_of_manage_py_up() -> None:
    own = {process.name: process.command for process in services(config, None)}
    assert list(WEB)[1:] == _listening_everywhere(own["web"])
    assert list(platform_worker(6))[1:] == own["platform"][1:]
    assert list(cluster_worker())[1:] == own["cluster"][1:]
    assert [part for part in BEAT[1:] if "/" not in part] == [part for part in own["beat"][1:] if "/" not in part]


def _listening_everywhere(command: list[str]) -> list[str]:
    return [{config.host: "0.0.0.0", str(config.port): "8600"}.get(part, part) for part in command[1:]]


def test_the_command_prints_what_kubectl_takes(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    file, lock = tmp_path / "values.yaml", tmp_path / "lock.json"
    file.write_text("url: https://dressage.example.com\nclusters: [{name: box, head: {gpus: 1}}]\n")
    lock.write_text(
        json.dumps({name: {"repository": one.repository, "digest": one.digest} for name, one in images().items()})
    )
    assert main([str(file), "--lock", str(lock)]) == 0
    printed = list(yaml.safe_load_all(capsys.readouterr().out))
    assert printed[0]["kind"] == "ServiceAccount" and printed[-1]["kind"] == "PodDisruptionBudget"


def test_all_values_are_checked_types() -> None:
    assert issubclass(Values, ValuesPart) and Values.model_config["extra"] == "forbid"
