"""A Helm chart of one installation, for users who want Helm's history and rollback.

Its templates are the manifests themselves: values are typed and checked here, before Helm sees anything, so that
nothing is decided in a language that our tests cannot run. See docs/adr/0010-manifests-from-typed-values.md.
"""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from deploy.images.lock import Image
from deploy.kubernetes.objects import digest_of
from deploy.kubernetes.render import render, text_of
from deploy.kubernetes.values import Values
from deploy.variables import ROOT


def write_chart(folder: Path, values: Values, images: Mapping[str, Image]) -> None:
    """Write the chart into a folder; an earlier chart there is replaced."""
    manifests = render(values, images)
    templates = folder / "templates"
    templates.mkdir(parents=True, exist_ok=True)
    for old in templates.iterdir():
        old.unlink()
    for manifest in manifests:
        name = f"{manifest['kind'].lower()}-{manifest['metadata']['name']}.yaml"
        (templates / name).write_text(escaped(text_of([manifest])))
    (folder / "Chart.yaml").write_text(yaml.safe_dump(_chart(values, digest_of(manifests)), sort_keys=False))
    # It makes Helm refuse --set and -f: what they would change was decided when the chart was written.
    (folder / "values.schema.json").write_text(json.dumps(_NO_VALUES, indent=2) + "\n")
    (folder / "values.yaml").write_text("{}\n")
    (folder / "installation.json").write_text(values.model_dump_json(indent=2) + "\n")


def escaped(text: str) -> str:
    """Text escaped for Helm's templates, which then write it unchanged."""
    return text.replace("{{", '{{ "{{" }}')


def values_schema() -> dict[str, Any]:
    """JSON Schema of the values, for editors and for checks before they reach this tool."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **Values.model_json_schema()}


_NO_VALUES = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "description": "This chart takes no values. Change the installation's values and write the chart again.",
    "type": "object",
    "properties": {"global": {}},
    "additionalProperties": False,
}


def _chart(values: Values, digest: str) -> dict[str, Any]:
    release = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    return {
        "apiVersion": "v2",
        "name": values.name,
        "description": "One installation of Dressage, written by python -m deploy.kubernetes.",
        "type": "application",
        "version": f"{release}+{digest}",
        "appVersion": release,
    }
