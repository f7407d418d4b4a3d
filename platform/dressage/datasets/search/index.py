"""The index of a version's rows: words and tags in SQLite full-text search, everything else in arrays by row number.

A separate process (``python -m`` this module) writes the files. The text file is moved into place last, when all files
are complete and on disk. A killed process therefore leaves no index, and the next one starts over. The files contain
what ``facts`` extracts from rows, so the index finds the same rows as a scan. Their names start with that of the
version's file, so that ``dressage.datasets.versions.deletion`` can remove them.
"""

import hashlib
import json
import os
import sqlite3
import sys
import time
from array import array
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from dressage.datasets.rows import ids as row_ids
from dressage.datasets.rows.facts import SCRIPTS, Facts, facts_of, words
from dressage.embedded.private_files import sync_folder

VERSION = 2
"""Format version. Indexes of another version are rebuilt."""
_TABLE = (
    "CREATE VIRTUAL TABLE rows USING fts5(body, tags, content='', detail=full, columnsize=0, "
    "tokenize=\"ascii tokenchars '_'\")"
)
_IN_MEMORY = "INSERT INTO rows(rows, rank) VALUES('hashsize', 67108864)"  # bytes, so that few parts are merged
_TELL_EVERY_S = 0.5
_MARK_EVERY = 1_000
_MARK = "mark"
"""Content of the marker entries that follow every ``_MARK_EVERY`` rows and match every query. Without them SQLite would
return only at the next hit; with them it returns in time. Row n has the id 2n, a marker after it 2n + 1.
"""


class BrokenIndex(Exception):
    """An index whose files are missing or corrupt."""


def place(path: Path, name: str = "text.sqlite") -> Path:
    """Path of one file of a version's index, whether it exists or not; by default the text file."""
    return path.parent / "index" / f"{path.stem}-{VERSION}.{name}"


def numbers(path: Path, name: str) -> np.ndarray:
    """``length`` int32, ``script`` int8, or ``answer``, ``id`` uint64 hashes: a memory-mapped array of shape [rows].

    Raises:
        BrokenIndex: the array cannot be read.
    """
    try:
        return np.load(place(path, f"{name}.npy"), mmap_mode="r")
    except (FileNotFoundError, ValueError, EOFError) as error:
        raise BrokenIndex(f"{name}: {error}") from error


@contextmanager
def texts(path: Path) -> Iterator[sqlite3.Connection]:
    """The database of words and tags, opened for reading.

    Raises:
        BrokenIndex: the database cannot be opened, or a query fails.
    """
    try:
        with closing(sqlite3.connect(f"file:{place(path)}?mode=ro&immutable=1", uri=True)) as database:
            yield database
    except sqlite3.DatabaseError as error:
        raise BrokenIndex(f"text: {error}") from error


def withdraw(path: Path) -> None:
    """Mark an index as not built. Its other files stay until the next build, which may already be running."""
    place(path).unlink(missing_ok=True)


def discard(path: Path) -> None:
    """Remove all files of the index of a version's file."""
    for file in (path.parent / "index").glob(f"{path.stem}-*"):
        file.unlink(missing_ok=True)


def hash_of(text: str) -> int:
    """64-bit hash for comparing ids, answers and tags."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def indexed_text(text: str) -> str:
    """A text that SQLite's tokenizer splits into the words that ``facts.words`` finds."""
    return text if text.isascii() else " ".join(words(text))


def match(phrases: Iterable[list[str]], tags: Iterable[str]) -> str:
    """SQLite expression for words, phrases and tags that must all occur in a row, and for the markers."""
    wanted = ['body : "{}"'.format(" ".join(phrase)) for phrase in phrases]
    wanted += [f'tags : "{_tag(tag)}"' for tag in tags]
    # Markers go into each part, not next to the whole: two words that are frequent but never in the same row never hit.
    return " AND ".join(f'({one} OR tags : "{_MARK}")' for one in wanted)


def stretches(database: sqlite3.Connection, expression: str, start: int, end: int) -> Iterator[tuple[np.ndarray, int]]:
    """(numbers of the rows that ``match`` finds, number up to which they are complete), from ``start`` up to ``end``.

    Each stretch covers at most ``_MARK_EVERY`` rows, so that the caller can stop in time. The last one reaches ``end``.
    """
    found = list[int]()
    sql = "SELECT rowid FROM rows WHERE rows MATCH ? AND rowid >= ? AND rowid < ? ORDER BY rowid"
    for (entry,) in database.execute(sql, (expression, 2 * start, 2 * end)):
        if entry % 2 == 0:
            found.append(entry // 2)
        elif entry < 2 * end - 1:
            yield np.array(found, dtype=np.int64), entry // 2 + 1
            found = []
    yield np.array(found, dtype=np.int64), end


def build(path: Path) -> None:
    """Build the index of a version's file. Progress in rows is written to the file ``done``."""
    discard(path)
    done, unfinished = place(path, "done"), place(path, "part")
    done.parent.mkdir(parents=True, exist_ok=True)
    arrays = {"length": array("i"), "script": array("b"), "answer": array("Q"), "id": array("Q")}
    database, told = _open(unfinished), 0.0
    for start, found in _facts(path):
        for row_id, facts in found:
            arrays["length"].append(facts.length)
            arrays["script"].append(SCRIPTS.index(facts.script))
            arrays["answer"].append(0 if facts.answer is None else hash_of(facts.answer))
            arrays["id"].append(hash_of(row_id))
        lines = _lines(start, [facts for _, facts in found])
        database.executemany("INSERT INTO rows(rowid, body, tags) VALUES(?, ?, ?)", lines)
        if time.monotonic() - told > _TELL_EVERY_S:
            told = time.monotonic()
            done.write_text(str(start + len(found)))
    database.execute("COMMIT")
    database.close()
    for name, values in arrays.items():
        np.save(place(path, f"{name}.npy"), np.frombuffer(values, dtype=values.typecode))
    for file in (unfinished, *(place(path, f"{name}.npy") for name in arrays)):
        _sync(file)
    unfinished.rename(place(path))
    sync_folder(done.parent)
    done.unlink(missing_ok=True)


def _sync(file: Path) -> None:
    """Flush a file to disk, so that it survives a power cut."""
    with file.open("rb") as opened:
        os.fsync(opened.fileno())


def _open(file: Path) -> sqlite3.Connection:
    """A new database without a journal: an unfinished one is discarded."""
    database = sqlite3.connect(file, isolation_level=None)
    for statement in ("PRAGMA journal_mode=OFF", "PRAGMA synchronous=OFF", _TABLE, _IN_MEMORY, "BEGIN"):
        database.execute(statement)
    return database


def _facts(path: Path) -> Iterator[tuple[int, list[tuple[str, Facts]]]]:
    """(number of the first row, (id, facts) of the rows) for each row group."""
    start = 0
    with pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            table = file.read_row_group(group)
            rows, answers = [json.loads(text) for text in table["row"].to_pylist()], table["answer"].to_pylist()
            ids = table["id"].to_pylist() if "id" in table.column_names else map(row_ids.content_id, rows)
            triples = zip(ids, rows, answers, strict=True)
            yield start, [(row_id, facts_of(row, answer)) for row_id, row, answer in triples]
            start += len(rows)


def _lines(start: int, found: list[Facts]) -> Iterator[tuple[int, str, str]]:
    """(id, body, tags) of the entries for rows and for the markers between them."""
    for number, facts in enumerate(found, start):
        yield 2 * number, indexed_text(facts.text), " ".join(map(_tag, facts.tags))
        if number % _MARK_EVERY == _MARK_EVERY - 1:
            yield 2 * number + 1, "", _MARK


def _tag(tag: str) -> str:
    return f"t{hash_of(tag):016x}"


if __name__ == "__main__":
    build(Path(sys.argv[1]))
