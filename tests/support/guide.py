"""Authoring guides, followed to the letter: the files they show are written, the changes made, the commands run.

In a guide, a fenced block whose info string says ``file=PATH`` is that file. A ``diff`` block with ``file=PATH``
changes one: its context and its lines to remove must stand there exactly once; ``@@`` parts two places. An ``sh`` block
is run, and the lines of a ``text`` block behind it must appear in what it prints. All other text is for people.
"""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GUIDES = ROOT / "docs" / "development"
BLOCK = re.compile(r"^```(?P<kind>\w+)(?: file=(?P<file>\S+))?\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
LIMIT_S = 240


@dataclass
class Followed:
    """What following a guide has done."""

    created: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    printed: str = ""
    """Of the last command."""


def checkout(folder: Path, *edited: str) -> Path:
    """A copy of the checkout in which ``edited`` folders may be changed; the others are links.

    Scripts are always copied: they find the checkout that they work on by their own place.
    """
    folder.mkdir()
    for source in ROOT.iterdir():
        if source.name in ("scripts", *edited):
            skipped = shutil.ignore_patterns("__pycache__", "node_modules", "dist")
            shutil.copytree(source, folder / source.name, ignore=skipped)
            if (source / "node_modules").exists():
                (folder / source.name / "node_modules").symlink_to(source / "node_modules")
        elif source.name in ("pyproject.toml", "manage.py"):
            shutil.copy(source, folder / source.name)
        elif not source.name.startswith(".") or source.name in (".venv", ".node"):
            (folder / source.name).symlink_to(source)
    return folder


def follow(guide: str, tree: Path, **environment: str) -> Followed:
    """Do what ``docs/development/<guide>`` says, in ``tree``."""
    done = Followed()
    for block in BLOCK.finditer((GUIDES / guide).read_text()):
        kind, file, text = block["kind"], block["file"], block["text"]
        if kind == "diff":
            path = tree / file
            path.write_text(changed(path.read_text(), text, f"{guide}, {file}"))
            done.changed.append(file)
        elif file is not None:
            path = tree / file
            assert not path.exists(), f"{guide}: {file} is there already"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            done.created.append(file)
        elif kind == "sh":
            done.printed = run(text, tree, environment)
            done.commands.append(text)
        elif kind == "text" and done.commands:
            missing = [line for line in text.splitlines() if line not in done.printed]
            assert not missing, f"{guide}: {missing} is not in\n{done.printed}"
    return done


def run(command: str, tree: Path, environment: dict[str, str]) -> str:
    """What a command prints; it must succeed."""
    seen = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(tree), str(tree / "platform")]),
        "PATH": os.pathsep.join([str(ROOT / ".venv" / "bin"), str(ROOT / ".node" / "bin"), os.environ["PATH"]]),
        "PYTHONDONTWRITEBYTECODE": "1",
        **environment,
    }
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", command],
        cwd=tree,
        env=seen,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT_S,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}"
    return done.stdout


def changed(text: str, diff: str, where: str) -> str:
    """``text`` with the change made at each place of the diff."""
    for place in filter(None, re.split(r"^@@.*\n", diff, flags=re.MULTILINE)):
        lines = place.splitlines()
        before = "".join(line[1:] + "\n" for line in lines if not line.startswith("+"))
        after = "".join(line[1:] + "\n" for line in lines if not line.startswith("-"))
        assert text.count(before) == 1, f"{where}: stands there {text.count(before)} times:\n{before}"
        text = text.replace(before, after)
    return text
