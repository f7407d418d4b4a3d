"""The append-only journal of one attempt: events wait here, on disk, until the platform has acknowledged them.

One JSON object per line: an event (``{"seq": …, "kind": …}``) or an acknowledgement (``{"acked": seq}``). A line that a
crash has cut is dropped. Only offsets are kept in memory, so an hour of outage costs disk space and no RAM.
"""

import json
import os
from collections import deque
from pathlib import Path
from typing import Any

COMPACT_BYTES = 4 * 2**20
"""A journal with nothing unacknowledged is started afresh when it is larger than this."""


def journal_path(run_dir: str | Path, attempt: int) -> Path:
    """Path of an attempt's journal. It is in the run's folder, so that it outlives the process and the machine."""
    return Path(run_dir) / "journal" / f"attempt-{attempt}.jsonl"


class Journal:
    """The journal of an attempt. Not thread-safe: the link's thread owns it."""

    def __init__(self, path: Path) -> None:
        """Open or continue the journal at ``path``."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        self._unacked: deque[tuple[int, int, int]] = deque()
        """Sequence number, offset and length of each event that is not acknowledged."""
        self.last_seq = 0
        self.acked_seq = 0
        self._size = self._read_back()

    @property
    def unacked(self) -> int:
        """Number of events without acknowledgement."""
        return len(self._unacked)

    def append(self, events: list[dict[str, Any]]) -> None:
        """Write events and force them to disk.

        Raises:
            ValueError: a sequence number leaves a gap or is repeated.
            OSError: the disk is full or broken; nothing was appended.
        """
        lines: list[bytes] = []
        entries = []
        offset = self._size
        for expected, event in enumerate(events, start=self.last_seq + 1):
            if event["seq"] != expected:
                raise ValueError(f"event {event['seq']} after {expected - 1}: sequence numbers have no gaps")
            line = (json.dumps(event, separators=(",", ":"), allow_nan=False) + "\n").encode()
            entries.append((expected, offset, len(line)))
            offset += len(line)
            lines.append(line)
        self._write(b"".join(lines))
        self._unacked.extend(entries)
        self.last_seq += len(entries)

    def batch(self, limit: int, max_bytes: int) -> list[str]:
        """The oldest unacknowledged events as JSON texts: at most ``limit``, and (after the first) ``max_bytes``."""
        texts: list[str] = []
        total = 0
        for _, offset, length in self._unacked:
            total += length
            if len(texts) == limit or (texts and total > max_bytes):
                break
            texts.append(os.pread(self._file, length - 1, offset).decode())
        return texts

    def acknowledge(self, seq: int) -> None:
        """Forget the events up to ``seq``."""
        if seq <= self.acked_seq:
            return
        self.acked_seq = min(seq, self.last_seq)
        while self._unacked and self._unacked[0][0] <= self.acked_seq:
            self._unacked.popleft()
        if not self._unacked and self._size > COMPACT_BYTES:
            self._start_afresh()
        else:
            # A lost acknowledgement only causes a repetition, which the platform recognises: no need to wait for disk.
            self._write(_acknowledgement(self.acked_seq), sync=False)

    def close(self) -> None:
        os.close(self._file)

    def _write(self, data: bytes, sync: bool = True) -> None:
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._file, view) :]
            if sync:
                os.fdatasync(self._file)
        except OSError:
            os.ftruncate(self._file, self._size)
            raise
        self._size += len(data)

    def _read_back(self) -> int:
        """Read what an earlier process left. Cuts off an incomplete last line and returns the remaining size."""
        offset = 0
        with open(self._path, "rb") as lines:
            for line in lines:
                if not line.endswith(b"\n"):
                    break
                record = json.loads(line)
                if "acked" in record:
                    self.acked_seq = record["acked"]
                    self.last_seq = max(self.last_seq, self.acked_seq)
                else:
                    self.last_seq = record["seq"]
                    self._unacked.append((record["seq"], offset, len(line)))
                offset += len(line)
        while self._unacked and self._unacked[0][0] <= self.acked_seq:
            self._unacked.popleft()
        os.ftruncate(self._file, offset)
        return offset

    def _start_afresh(self) -> None:
        fresh = self._path.with_suffix(".new")
        descriptor = os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
        line = _acknowledgement(self.acked_seq)
        os.write(descriptor, line)
        os.fsync(descriptor)
        os.rename(fresh, self._path)
        os.close(self._file)
        self._file, self._size = descriptor, len(line)


def _acknowledgement(seq: int) -> bytes:
    return f'{{"acked":{seq}}}\n'.encode()
