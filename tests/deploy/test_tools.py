"""What is rendered goes through the operators' own tools: kustomize, as kubectl carries it, and Helm where it is."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from deploy.kubernetes.chart import escaped, write_chart
from deploy.kubernetes.render import render, text_of
from deploy.kubernetes.values import Values
from tests.deploy.matrix import images, installations

CASES = dict(installations())
RICH = CASES["0-0-1-1-4"]
"""Bundled servers, an ingress, a closed way out, and a cluster that grows under Kueue."""


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def by_name(manifests: Any) -> dict[tuple[str, str], Any]:
    return {(one["kind"], one["metadata"]["name"]): one for one in manifests if one}


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
def test_kustomize_takes_the_manifests_as_a_base(tmp_path: Path) -> None:
    (tmp_path / "manifests.yaml").write_text(text_of(render(RICH, images())))
    patch = [{"op": "replace", "path": "/spec/replicas", "value": 5}]
    web = ("Deployment", f"{RICH.name}-web")
    target = {"kind": web[0], "name": web[1]}
    kustomization = {"resources": ["manifests.yaml"], "patches": [{"target": target, "patch": yaml.safe_dump(patch)}]}
    (tmp_path / "kustomization.yaml").write_text(yaml.safe_dump(kustomization))
    built = by_name(yaml.safe_load_all(run("kubectl", "kustomize", str(tmp_path))))
    wanted = by_name(render(RICH, images()))
    assert built[web]["spec"]["replicas"] == 5
    wanted[web]["spec"]["replicas"] = 5
    assert built == wanted


def test_a_chart_holds_the_manifests_and_nothing_to_be_filled_in(tmp_path: Path) -> None:
    write_chart(tmp_path, CASES["0-0-0-0-1"], images())
    write_chart(tmp_path, RICH, images())  # what the first has left is gone
    texts = [path.read_text() for path in (tmp_path / "templates").iterdir()]
    assert not any("{{" in text for text in texts)
    assert by_name(yaml.safe_load(text) for text in texts) == by_name(render(RICH, images()))
    chart = yaml.safe_load((tmp_path / "Chart.yaml").read_text())
    assert (chart["apiVersion"], chart["name"]) == ("v2", RICH.name)
    assert Values.model_validate_json((tmp_path / "installation.json").read_text()) == RICH


def test_a_chart_refuses_values_of_its_own(tmp_path: Path) -> None:
    write_chart(tmp_path, RICH, images())
    schema = jsonschema_rs.Draft7Validator(json.loads((tmp_path / "values.schema.json").read_text()))
    assert schema.is_valid({}) and not schema.is_valid({"web": {"replicas": 9}})


def test_text_that_looks_like_a_template_is_written_as_it_is() -> None:
    assert escaped("a {{ b }}") == 'a {{ "{{" }} b }}'


@pytest.mark.skipif(shutil.which("helm") is None, reason="Helm is not installed")
@pytest.mark.parametrize("name", sorted(CASES)[::20])
def test_helm_renders_the_chart_as_it_is(name: str, tmp_path: Path) -> None:
    write_chart(tmp_path, CASES[name], images())
    run("helm", "lint", str(tmp_path))
    rendered = by_name(yaml.safe_load_all(run("helm", "template", "dressage", str(tmp_path))))
    assert rendered == by_name(render(CASES[name], images()))
    refused = subprocess.run(
        ["helm", "template", "dressage", str(tmp_path), "--set", "web.replicas=9"], capture_output=True
    )
    assert refused.returncode != 0
