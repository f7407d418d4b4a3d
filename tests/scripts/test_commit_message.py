"""The form of commit messages."""

import pytest

from scripts.lint.commit_message import faults


@pytest.mark.parametrize(
    "message",
    [
        "worker: name the lost rank\n",
        "trainer_core: take out what nothing calls\n\nBecause of this.\n# a comment\n",
        "docs/adr: " + "x" * 62,
        "Merge branch 'x'",
    ],
)
def test_well_formed(message: str) -> None:
    assert faults(message) == []


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("", "Begin with one area"),
        ("Fix things", "Begin with one area"),
        ("worker:", "Begin with one area"),
        ("worker, link: name the lost rank", "Begin with one area"),
        ("docs/adr: " + "x" * 63, "The first line has 73 characters, 72 are the most"),
        ("worker: a\nb", "Leave the second line empty."),
    ],
)
def test_ill_formed(message: str, words: str) -> None:
    (fault,) = faults(message)
    assert words in fault
