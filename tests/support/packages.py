"""Installed packages made for a test: modules with the metadata that an installer writes, on a path of their own."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def install(site: Path, name: str, modules: Mapping[str, str], entries: Mapping[str, Mapping[str, str]]) -> None:
    """Lay a package of version 1.0 into ``site``.

    Args:
        site: a folder that will stand on ``sys.path``.
        name: of the package.
        modules: text by file name.
        entries: by group: the value of each entry point by its name.
    """
    for file, text in modules.items():
        (site / file).parent.mkdir(parents=True, exist_ok=True)
        (site / file).write_text(text)
    info = site / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    groups = [f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in found.items()) for group, found in entries.items()]
    (info / "entry_points.txt").write_text("\n".join(groups))


def python(program: str, *arguments: str, site: Path, check: bool = True) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own that sees the packages of ``site``, and the checkout."""
    path = os.pathsep.join([str(site), str(ROOT), str(ROOT / "platform")])
    command = [sys.executable, "-c", program, *arguments]
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT, timeout=280)
    assert not check or done.returncode == 0, done.stderr
    return done
