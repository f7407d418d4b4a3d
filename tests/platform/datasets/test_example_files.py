"""Files of completions and pairs: stored once and uploaded again, their rows are equal."""

from pathlib import Path

import pytest

from tests.platform.datasets.test_round_trip import returns, store
from tests.support.peoples_files import CONTENTS, lines

NAMES = [
    "answered chats",
    "TRL, a prompt and a completion",
    "TRL, preferences",
    "TRL, preferences without a prompt",
    "UltraFeedback",
    "Alpaca",
    "plain text",
    "preferences beside a prompt",
]


@pytest.mark.parametrize("name", NAMES)
def test_round_trips(name: str, tmp_path: Path) -> None:
    stored = store(lines(CONTENTS[name][0]), "rows.jsonl", tmp_path)
    assert stored is not None
    returns(*stored, tmp_path, name)
