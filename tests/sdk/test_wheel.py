"""The wheel of the client, beside the packages that it declares and no others."""

import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import PathDistribution, distribution
from pathlib import Path

import grimp
import pytest
from packaging.requirements import Requirement

from tests.support.guide import ROOT

PROGRAM = """
import importlib, sys
site, *modules = sys.argv[1:]
sys.path.append(site)
for module in modules:
    importlib.import_module(module)
from dressage_sdk import Client, RunSpec
data = {"sources": [{"name": "b", "dataset": "c@1"}]}
spec = {"policy": {"base": "a"}, "data": data, "reward": {"definition": "d@1"}}
print(RunSpec.model_validate(spec).policy.base, Client("http://127.0.0.1:9", "drs_secret"))
"""


@pytest.mark.expensive(
    3, "builds a wheel and imports it", about=("sdk", "trainer_core/link", "trainer_core/metrics", "trainer_core/spec")
)
def test_the_wheel_works_with_what_it_declares_alone(tmp_path: Path) -> None:
    wheel = _built(tmp_path)
    names = wheel.namelist()
    modules = {
        name.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for name in names if name.endswith(".py")
    }
    graph = grimp.build_graph("dressage_sdk", "trainer_core", exclude_type_checking_imports=True, cache_dir=None)
    own = {name for name in graph.modules if name.split(".")[0] == "dressage_sdk"}
    needed = own.union(*(graph.find_upstream_modules(name) for name in own))
    assert needed - modules == set(), "sdk/pyproject.toml must list the packages of these modules"
    assert "dressage_sdk/py.typed" in names

    site = tmp_path / "site"
    wheel.extractall(site)
    [metadata] = site.glob("*.dist-info")
    assert (metadata / "entry_points.txt").read_text().split() == [
        "[console_scripts]", "dressage", "=", "dressage_sdk.cli:main",
    ]  # fmt: skip
    _link(PathDistribution(metadata).requires or [], site)
    done = subprocess.run(  # isolated: without this environment's packages
        [sys.executable, "-I", "-B", "-S", "-c", PROGRAM, str(site), *sorted(modules)],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("a Client('http://127.0.0.1:9')\n", "")


def _built(folder: Path) -> zipfile.ZipFile:
    """The wheel, built from a copy: setuptools keeps what it has built beside the sources."""
    for tree in ("sdk", "trainer_core"):
        shutil.copytree(ROOT / tree, folder / tree, ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    subprocess.run([*command, "--wheel-dir", str(folder), str(folder / "sdk")], check=True, capture_output=True)
    [path] = folder.glob("dressage_sdk-*.whl")
    return zipfile.ZipFile(path)


def _link(requirements: list[str], site: Path) -> None:
    """Put the modules of the required packages, and of those that these require, into ``site``."""
    waiting = [Requirement(line) for line in requirements]
    while waiting:
        requirement = waiting.pop()
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
            continue
        package = distribution(requirement.name)
        for top in {file.parts[0] for file in package.files or () if file.parts[0] not in ("..", "__pycache__")}:
            if not (site / top).exists():
                (site / top).symlink_to(package.locate_file(top))
                waiting += [Requirement(line) for line in package.requires or ()]
