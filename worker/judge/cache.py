"""Answers by the hash of their question, in memory and in a file that outlives the process."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import sqlite3
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

from trainer_core.link.judge import JudgeEndpoint
from trainer_core.link.judge_chat import Answer
from trainer_core.rewards.graders.model.judge import JudgeRequest

log = logging.getLogger(__name__)

IN_MEMORY = 50_000
"""Answers kept in memory; the least recently used are dropped first."""
WRITE_EVERY_S = 1.0
WRITE_AT = 256
"""Answers are written in batches, after some time or when this many are waiting."""
_TABLE = "CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, text TEXT, prompt INTEGER, completion INTEGER)"
_REQUEST = tuple(one.name for one in fields(JudgeRequest))


def request_key(endpoint: JudgeEndpoint, request: JudgeRequest) -> str:
    """Hash of everything that determines the answer: the endpoint, the model, and the whole request."""
    where = endpoint.base_url or str(endpoint.model_dir)
    given = [getattr(request, name) for name in _REQUEST]
    content = json.dumps([where, endpoint.model, given], sort_keys=True, ensure_ascii=False, default=dict)
    return hashlib.sha256(content.encode(errors="surrogatepass")).hexdigest()


class AnswerCache:
    """A cache of judges' answers. Thread-safe. If the file cannot be used, the cache works only in memory: this costs
    extra calls, but never a reward."""

    def __init__(self, path: Path | None = None, in_memory: int = IN_MEMORY) -> None:
        """``path``: a file used only by this process, created if needed."""
        self._lock = threading.Lock()
        self._answers: OrderedDict[str, Answer] = OrderedDict()
        self._in_memory = in_memory
        self._unwritten: dict[str, Answer] = {}
        self._written_at = time.monotonic()
        self._file = _open(path) if path is not None else None

    def get(self, key: str) -> Answer | None:
        """The answer, or None."""
        with self._lock:
            answer = self._answers.get(key)
            if answer is not None:
                self._answers.move_to_end(key)
                return answer
            answer = self._unwritten.get(key) or self._stored(key)
            if answer is not None:
                self._remember(key, answer)
            return answer

    def put(self, key: str, answer: Answer) -> None:
        """Store an answer."""
        with self._lock:
            self._remember(key, answer)
            if self._file is None:
                return
            self._unwritten[key] = answer
            if len(self._unwritten) >= WRITE_AT or time.monotonic() - self._written_at >= WRITE_EVERY_S:
                self._write()

    def forget(self, key: str) -> None:
        """Drop an answer."""
        with self._lock:
            self._answers.pop(key, None)
            self._unwritten.pop(key, None)
            if self._file is not None:
                with self._guarded():
                    self._file.execute("DELETE FROM answers WHERE key = ?", (key,))
                    self._file.commit()

    def close(self) -> None:
        """Write the remaining answers."""
        with self._lock:
            if self._file is not None:
                self._write()
            if self._file is not None:
                self._file.close()
                self._file = None

    def _remember(self, key: str, answer: Answer) -> None:
        self._answers[key] = answer
        self._answers.move_to_end(key)
        if len(self._answers) > self._in_memory:
            self._answers.popitem(last=False)

    def _stored(self, key: str) -> Answer | None:
        if self._file is None:
            return None
        with self._guarded():
            row = self._file.execute("SELECT text, prompt, completion FROM answers WHERE key = ?", (key,)).fetchone()
            return Answer(*row) if row is not None else None
        return None

    def _write(self) -> None:
        assert self._file is not None
        rows = [(key, a.text, a.prompt_tokens, a.completion_tokens) for key, a in self._unwritten.items()]
        self._unwritten, self._written_at = {}, time.monotonic()
        with self._guarded():
            self._file.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)", rows)
            self._file.commit()

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            log.warning("the cache of judges' answers continues without its file: %s", error)
            assert self._file is not None
            self._file.close()
            self._file = None


def _open(path: Path) -> sqlite3.Connection | None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = sqlite3.connect(path, check_same_thread=False)
        # The run folder is on shared storage, where SQLite's write-ahead log does not work. Answers lost in a crash are
        # requested again.
        file.execute("PRAGMA synchronous = OFF")
        file.execute(_TABLE)
        file.commit()
        return file
    except (OSError, sqlite3.Error) as error:
        log.warning("judges' answers are kept in memory only: %s", error)
        return None
