"""The documentation for a stranger: the index names every page, links lead somewhere, ARCHITECTURE names real files."""

import re
from pathlib import Path

import pytest

from tests.support.guide import ROOT

INDEX = ROOT / "docs" / "README.md"
PAGES = [page for pattern in ("*.md", "docs/**/*.md") for page in sorted(ROOT.glob(pattern))]
DATASETS = ROOT / "docs" / "datasets"
_LINK = re.compile(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)")
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


def links(page: Path) -> list[tuple[Path, str]]:
    """Files that a page leads to, each with the heading there, or an empty text."""
    found = _LINK.findall(_CODE.sub("", page.read_text()))
    return [((page.parent / file).resolve() if file else page, heading) for file, heading in found]


def headings(page: Path) -> set[str]:
    """Anchors of a page's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}


def test_the_index_names_every_page() -> None:
    named = {file for file, _ in links(INDEX)}
    assert {page for page in PAGES if ROOT / "docs" in page.parents} - named == {INDEX}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    for file, heading in links(page):
        assert file.exists(), file
        assert not heading or heading in headings(file), f"{file.name}#{heading}"


def test_the_architecture_names_files_that_are_there() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    named = set(re.findall(r"`((?:platform|worker|trainer_core|sdk|frontend)/[\w./-]+)`", text))
    assert len(named) > 50
    assert {name for name in named if not (ROOT / name).exists()} == set()


def test_pages_of_datasets_stay_short() -> None:
    assert {page.name for page in DATASETS.glob("*.md") if len(page.read_text().splitlines()) > 200} == set()
