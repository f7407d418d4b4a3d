"""The Python packages of each image: a whole lock file, or for the web image the part that the platform needs."""

import re
import tomllib
from pathlib import Path

from deploy.variables import ROOT

LOCKS = {"web": "runtime.lock", "cpu": "runtime.lock", "cuda": "cuda.lock"}
"""Lock file of each kind of image."""
_OWN = "dressage (pyproject.toml)"


def requirements(kind: str, root: Path = ROOT) -> list[str]:
    """``name==version`` of each package of an image. Raises KeyError for an unknown kind."""
    text = (root / "requirements" / LOCKS[kind]).read_text()
    pins = re.findall(r"^([A-Za-z0-9._-]+==\S+)", text, re.MULTILINE)
    if kind != "web":
        return pins
    wanted = platform_packages(text, (root / "pyproject.toml").read_text())
    return [pin for pin in pins if pin.split("==")[0] in wanted]


def platform_packages(lock: str, project: str) -> frozenset[str]:
    """Names of the packages that the web tier imports and of all their dependencies, by the lock's ``# via`` notes."""
    needed_by = _needed_by(lock)
    declared = tomllib.loads(project)["project"]
    asked = [*declared["dependencies"], *declared["optional-dependencies"]["platform"]]
    names = {_normal(match[0]) for one in asked if (match := re.match(r"[A-Za-z0-9._-]+", one))}
    found = {name for name, users in needed_by.items() if name in names and _OWN in users}
    while more := {name for name, users in needed_by.items() if name not in found and found & users}:
        found |= more
    return frozenset(found)


def _needed_by(lock: str) -> dict[str, set[str]]:
    """Dependents of each package by its name, from the ``# via`` notes of pip-compile."""
    users: dict[str, set[str]] = {}
    current = ""
    for line in lock.splitlines():
        if pinned := re.match(r"([A-Za-z0-9._-]+)==", line):
            current = _normal(pinned[1])
            users[current] = set()
        elif current and (note := re.match(r"\s+#\s+(?:via\s+)?(\S.*)$", line)) and note[1] != "via":
            users[current].add(note[1] if note[1] == _OWN else _normal(note[1]))
    return users


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
