"""Settings, commands and make targets that the pages name: each is there under that name."""

import re
from pathlib import Path

import pytest
from django.core.management import get_commands

from dressage.config import ROOT

GUIDES = ROOT / "docs" / "development"
"""What these have people write is not there yet."""
PAGES = [
    page
    for pattern in ("*.md", "docs/**/*.md", "deploy/**/*.md", "deploy/**/*.yaml", "deploy/images/Containerfile")
    for page in sorted(ROOT.glob(pattern))
    if GUIDES not in page.parents
]
OUTSIDE = {"doctor"}
"""Commands that ``manage.py`` runs without Django."""
OF_COMPOSE = {"DRESSAGE_DOMAIN", "DRESSAGE_TLS"}
"""Settings that the compose file alone reads."""
OF_CLIENTS = {"DRESSAGE_POLICY_KEY"}
"""Variables that only a sample of a client's program reads."""


@pytest.fixture(scope="module")
def read_by_code() -> set[str]:
    """Every variable of ours whose name stands in the source."""
    trees = ("platform", "worker", "trainer_core", "kernels", "sdk", "deploy")
    text = "".join(path.read_text() for tree in trees for path in (ROOT / tree).rglob("*.py"))
    return set(re.findall(r'"(DRESSAGE_[A-Z0-9_]+)"', text)) | OF_COMPOSE


def test_every_setting_that_a_page_names_is_read(read_by_code: set[str]) -> None:
    assert len(PAGES) > 40
    named = {(page.name, name) for page in PAGES for name in re.findall(r"\bDRESSAGE_[A-Z0-9_]+\b", page.read_text())}
    assert {(page, name) for page, name in named if name not in read_by_code | OF_CLIENTS} == set()


def test_every_command_that_a_page_names_is_there() -> None:
    commands = set(get_commands()) | OUTSIDE
    named = {(page.name, name) for page in PAGES for name in re.findall(r"manage\.py ([a-z_]+)\b", page.read_text())}
    assert {(page, name) for page, name in named if name not in commands and name != "pyproject"} == set()
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    asked = {(page.name, name) for page in PAGES for name in re.findall(r"`make ([a-z-]+)", page.read_text())}
    assert {(page, name) for page, name in asked if name not in targets} == set()


@pytest.mark.parametrize(
    "page", [ROOT / "deploy" / "README.md", ROOT / "README.md"], ids=lambda page: str(page.parent.name)
)
def test_every_file_that_a_page_runs_is_there(page: Path) -> None:
    files = set(re.findall(r"\b((?:scripts|deploy|tests)/[\w/-]+\.(?:py|sh))\b", page.read_text()))
    modules = {
        name.replace(".", "/") for name in re.findall(r"python -m ((?:deploy|tests|scripts)[\w.]*)", page.read_text())
    }
    assert {name for name in files if not (ROOT / name).is_file()} == set()
    assert {name for name in modules if not (ROOT / name).is_dir() and not (ROOT / f"{name}.py").is_file()} == set()
