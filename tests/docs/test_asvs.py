"""The page about ASVS: every requirement of levels 1 and 2 once, every test that it names there, counts that agree."""

import csv
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.support.guide import ROOT

PAGE = ROOT / "docs" / "security-asvs.md"
LEVELS = ROOT / "tests" / "data" / "asvs-5.0.0-levels.csv"
"""Numbers of the requirements of OWASP ASVS 5.0.0, levels 1 and 2, with their levels."""
STATES = ("holds", "does not apply", "open")
_LINE = re.compile(r"^\| (\d+\.\d+\.\d+) \| (\d) \| ([^|]+) \| ([^|]+) \| (.+) \|$", re.MULTILINE)
_COUNTS = re.compile(r"^\| (V\d+|all)[^|]* \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", re.MULTILINE)
_NAMED = re.compile(r"`([\w./-]+\.(?:py|tsx?))(?:::(\w+))?`")


def lines() -> list[tuple[str, str, str, str, str]]:
    """Number, level, subject, state and proof of each line."""
    return _LINE.findall(PAGE.read_text())


def exists(file: str, name: str) -> bool:
    """Whether that test is there: a file of ``tests/`` with a function, or a file of the console's."""
    path = ROOT / file if file.startswith("frontend/") else ROOT / "tests" / file
    if not path.is_file() or not name:
        return path.is_file()
    return re.search(rf"^\s*(?:async )?def {name}\(", path.read_text(), re.MULTILINE) is not None


def test_every_requirement_stands_there_once() -> None:
    with LEVELS.open(newline="") as file:
        wanted = [(row["requirement"], row["level"]) for row in csv.DictReader(file)]
    assert [(number, level) for number, level, *_ in lines()] == wanted


def test_every_line_has_a_subject_a_state_and_a_proof() -> None:
    for number, _, subject, state, proof in lines():
        assert state in STATES, number
        assert 1 <= len(subject.split()) <= 12, number
        assert len(proof) >= 12, number


@pytest.mark.parametrize("file, name", sorted({found for *_, proof in lines() for found in _NAMED.findall(proof)}))
def test_what_it_names_exists(file: str, name: str) -> None:
    assert exists(file, name), f"docs/security-asvs.md names {file}::{name}, which is not there: name its successor."


def test_the_counts_agree() -> None:
    found = Counter(
        (chapter, state) for number, _, _, state, _ in lines() for chapter in (f"V{number.split('.')[0]}", "all")
    )
    chapters = dict.fromkeys(chapter for chapter, _ in found)
    expected = {
        chapter: [sum(found[chapter, state] for state in STATES), *(found[chapter, state] for state in STATES)]
        for chapter in chapters
    }
    told = {chapter: [int(count) for count in counts] for chapter, *counts in _COUNTS.findall(PAGE.read_text())}
    assert told == expected


def test_a_test_that_is_gone_is_told() -> None:
    assert exists("docs/test_asvs.py", "test_a_test_that_is_gone_is_told")
    assert not exists("docs/test_asvs.py", "test_a_test_that_is")
    assert not exists("docs/test_that_is_not_there.py", "")
    assert not exists("frontend/src/not-there.ts", "")


def test_the_console_writes_text_and_never_markup() -> None:
    sources = [file for kind in ("*.ts", "*.tsx") for file in Path(ROOT / "frontend" / "src").rglob(kind)]
    assert len(sources) > 100
    forbidden = re.compile(
        r"dangerouslySetInnerHTML|\.innerHTML|\.outerHTML|insertAdjacentHTML|document\.write|\beval\("
    )
    assert [str(file) for file in sources if forbidden.search(file.read_text())] == []
