"""docs/methods.md is what the code says."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def page() -> str:
    return runpy.run_path(str(ROOT / "scripts" / "write_method_reference.py"))["page"]()


def test_the_page_is_up_to_date(page: str) -> None:
    assert (ROOT / "docs" / "methods.md").read_text() == page, "run `make docs` and commit docs/methods.md"


def test_every_method_has_formula_source_and_advice(page: str) -> None:
    sections = re.split(r"^#### ", page.partition("\n## Recipes")[0], flags=re.MULTILINE)[1:]
    assert len(sections) > 60
    for section in sections:
        assert "```text" in section and "Source: " in section, section
        assert "*When to use.*" in section and "*Watch.*" in section, section


def test_every_table_row_has_a_meaning(page: str) -> None:
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert len(rows) > 300
    assert [row for row in rows if row.rstrip("| ").count("|") < 3] == []
