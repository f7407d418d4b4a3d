"""What ``deploy/README.md`` tells people to write is taken by what reads it."""

import re
import runpy
from pathlib import Path

import pytest

from deploy.kubernetes.reading import read_values
from deploy.variables import known_variables
from dressage.config import ROOT
from tests.support.about import INSTALLATION

PAGE = ROOT / "deploy" / "README.md"
TEXT = PAGE.read_text()
BLOCKS = re.findall(r"^ *```(\w*)\n(.*?)^ *```", TEXT, re.MULTILINE | re.DOTALL)
OF_RAY = {"RAY_AUTH_MODE", "RAY_AUTH_TOKEN_PATH"}


def test_every_setting_counts() -> None:
    named = {name for _, block in BLOCKS for name in re.findall(r"^ *([A-Z][A-Z_]+)=", block, re.MULTILINE)}
    assert len(named) > 10
    assert named - known_variables() - OF_RAY == set()


def test_the_values_for_kubernetes_are_taken(tmp_path: Path) -> None:
    [values] = [block for language, block in BLOCKS if language == "yaml"]
    (tmp_path / "values.yaml").write_text(values)
    read = read_values(tmp_path / "values.yaml")
    assert (read.url, read.clusters[0].workers[0].gpus) == ("https://dressage.example.com", 8)


@pytest.mark.expensive(5, "computes the sizes of clusters", about=("scripts", *INSTALLATION))
def test_sizes_and_costs_are_the_planners() -> None:
    table = runpy.run_path(str(ROOT / "scripts" / "write_cluster_sizes.py"))["table"]()
    assert len(table.splitlines()) > 10
    assert f"\n\n{table}\n" in TEXT, "put there what scripts/write_cluster_sizes.py prints"


def test_every_link_leads_somewhere() -> None:
    for target in re.findall(r"\]\(([^)]+)\)", TEXT):
        if target.startswith("https://"):
            continue
        path, _, heading = target.partition("#")
        page = (PAGE.parent / path).resolve() if path else PAGE
        assert page.is_file(), target
        titles = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
        anchors = {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}
        assert not heading or heading in anchors, target
