"""The archive for machines without a way out: what it holds, and what is refused."""

import json
import subprocess
from pathlib import Path

import pytest

from scripts import bundle
from scripts.bundle import BundleError

PACKAGES = {"ray": "2.60.0", "typing-extensions": "4.15.0"}


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small repository in the product's place, with its console built."""
    root = tmp_path / "clone"
    for name, text in {
        "pyproject.toml": 'version = "0.1.0"\n',
        "requirements/runtime.lock": "".join(f"{name}=={version}\n" for name, version in PACKAGES.items()),
        "demo/policy.bin": "weights",
        ".gitignore": "frontend/dist/\n",
        "frontend/dist/index.html": "console",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        subprocess.run([*git, *command], cwd=root, check=True)
    monkeypatch.setattr(bundle, "ROOT", root)
    return root


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    folder = tmp_path / "wheels"
    folder.mkdir()
    (folder / "ray-2.60.0-cp311-cp311-manylinux2014_x86_64.whl").write_text("ray")
    (folder / "typing_extensions-4.15.0-py3-none-any.whl").write_text("typing")
    return folder


@pytest.fixture
def unpacked(clone: Path, wheels: Path, tmp_path: Path) -> Path:
    archive = bundle.build("cpu", tmp_path / "out", wheels)
    assert [path.name for path in (tmp_path / "out").iterdir()] == [archive.name]
    (tmp_path / "far").mkdir()
    subprocess.run(["tar", "xf", str(archive), "-C", str(tmp_path / "far")], check=True)
    return tmp_path / "far" / archive.stem


def test_it_holds_the_commit_the_console_and_the_wheels(unpacked: Path, clone: Path) -> None:
    facts = json.loads((unpacked / bundle.MANIFEST).read_text())
    assert set(facts["files"]) == {
        "pyproject.toml",
        "requirements/runtime.lock",
        "demo/policy.bin",
        ".gitignore",
        "frontend/dist/index.html",
        "bundle/wheels/ray-2.60.0-cp311-cp311-manylinux2014_x86_64.whl",
        "bundle/wheels/typing_extensions-4.15.0-py3-none-any.whl",
    }
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=clone, capture_output=True, text=True, check=True)
    assert (facts["commit"], facts["accelerator"]) == (head.stdout.strip(), "cpu")
    assert bundle.verify(unpacked) == 7


def test_a_file_that_differs_or_is_missing_is_told(unpacked: Path) -> None:
    wheel = next((unpacked / "bundle" / "wheels").glob("ray*"))
    wheel.write_text("another ray")
    with pytest.raises(BundleError, match=r"ray-2\.60\.0.* is not as the manifest has it: copy the bundle again"):
        bundle.verify(unpacked)
    wheel.unlink()
    with pytest.raises(BundleError, match=r"ray-2\.60\.0.* is missing: unpack the bundle again"):
        bundle.verify(unpacked)


def test_another_kind_of_machine_is_refused(unpacked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    with pytest.raises(BundleError, match="this machine is riscv64"):
        bundle.verify(unpacked)


def test_what_cannot_be_bundled_is_told_and_nothing_is_made(clone: Path, wheels: Path, tmp_path: Path) -> None:
    (wheels / "typing_extensions-4.15.0-py3-none-any.whl").rename(wheels / "typing_extensions-4.14.0-py3-none-any.whl")
    with pytest.raises(BundleError, match=r"1 packages of runtime\.lock have no wheel: typing-extensions 4\.15\.0\."):
        bundle.build("cpu", tmp_path / "out", wheels)
    (clone / "pyproject.toml").write_text('version = "0.2.0"\n')
    with pytest.raises(BundleError, match="changes that are not committed"):
        bundle.build("cpu", tmp_path / "out", wheels)
    subprocess.run(["git", "checkout", "-q", "."], cwd=clone, check=True)
    (clone / "frontend" / "dist" / "index.html").unlink()
    with pytest.raises(BundleError, match="no console"):
        bundle.build("cpu", tmp_path / "out", wheels)
    assert list((tmp_path / "out").glob("*")) == []
