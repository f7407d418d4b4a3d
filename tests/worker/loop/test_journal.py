"""The journal: nothing lost, nothing twice, whatever moment a process dies at."""

import json
from pathlib import Path
from typing import Any

import pytest

from worker.link import journal as module
from worker.link.journal import Journal


def events(first: int, last: int) -> list[dict[str, Any]]:
    return [{"seq": seq, "kind": "log", "data": {"n": seq}} for seq in range(first, last + 1)]


def seqs(journal: Journal, limit: int = 500, max_bytes: int = 10**6) -> list[int]:
    return [json.loads(text)["seq"] for text in journal.batch(limit, max_bytes)]


def test_events_wait_until_they_are_acknowledged(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "a.jsonl")
    journal.append(events(1, 5))
    assert seqs(journal) == [1, 2, 3, 4, 5]
    journal.acknowledge(3)
    assert (seqs(journal), journal.unacked, journal.acked_seq) == ([4, 5], 2, 3)
    journal.acknowledge(2)
    assert seqs(journal) == [4, 5], "an old acknowledgement changes nothing"


def test_a_new_process_goes_on_where_the_old_one_stopped(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    old = Journal(path)
    old.append(events(1, 4))
    old.acknowledge(2)
    old.close()
    new = Journal(path)
    assert (seqs(new), new.last_seq, new.acked_seq) == ([3, 4], 4, 2)
    new.append(events(5, 5))
    assert seqs(new) == [3, 4, 5]


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_a_line_that_was_cut_by_a_crash_is_dropped(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "a.jsonl"
    old = Journal(path)
    old.append(events(1, 3))
    old.close()
    path.write_bytes(path.read_bytes()[:-cut])
    new = Journal(path)
    assert (seqs(new), new.last_seq) == ([1, 2], 2)
    new.append(events(3, 3))
    assert seqs(Journal(path)) == [1, 2, 3]


def test_a_gap_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "a.jsonl")
    with pytest.raises(ValueError, match="no gaps"):
        journal.append([*events(1, 1), *events(3, 3)])
    assert (journal.last_seq, journal.unacked) == (0, 0)
    assert (tmp_path / "a.jsonl").read_bytes() == b""


def test_batches_are_bounded_by_count_and_size(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "a.jsonl")
    journal.append(events(1, 10))
    assert seqs(journal, limit=4) == [1, 2, 3, 4]
    assert seqs(journal, max_bytes=100) == [1, 2]
    assert seqs(journal, max_bytes=1) == [1], "one event always travels, however long"


def test_a_journal_that_is_done_is_compacted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "COMPACT_BYTES", 100)
    path = tmp_path / "a.jsonl"
    journal = Journal(path)
    journal.append(events(1, 20))
    journal.acknowledge(20)
    assert path.read_text() == '{"acked":20}\n'
    journal.append(events(21, 21))
    assert (seqs(Journal(path)), Journal(path).acked_seq) == ([21], 20)


def test_a_full_disk_leaves_the_journal_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal(tmp_path / "a.jsonl")
    journal.append(events(1, 2))

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(module.os, "fdatasync", full)
        with pytest.raises(OSError, match="No space"):
            journal.append(events(3, 3))
    journal.append(events(3, 4))
    assert seqs(Journal(tmp_path / "a.jsonl")) == [1, 2, 3, 4]
