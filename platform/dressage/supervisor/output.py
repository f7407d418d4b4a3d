"""Marks each line of a process with its name: as a prefix, coloured on a terminal, or in JSON."""

import json
import re
import sys
from typing import Any

from trainer_core.log_lines import without_secrets

_COLOURS = (36, 33, 32, 35, 34, 96, 93, 92)


class PrefixedOutput:
    """A circus stream: receives chunks of bytes, writes whole lines."""

    def __init__(self, name: str, index: int, width: int, muted: str | None = None, as_json: bool = False) -> None:
        self._name, self._as_json = name, as_json
        label = f"{name:<{width}} │ "
        self._label = f"\x1b[{_COLOURS[index % len(_COLOURS)]}m{label}\x1b[0m" if sys.stdout.isatty() else label
        self._muted = re.compile(muted) if muted else None
        self._rest = b""

    def __call__(self, data: dict[str, Any]) -> None:
        """Write the complete lines of ``data["data"]``; keep the start of an unfinished one."""
        *lines, self._rest = (self._rest + data["data"]).split(b"\n")
        for line in (raw.decode(errors="replace") for raw in lines):
            if not (self._muted and self._muted.search(line)):
                sys.stdout.write(f"{self._as_object(line) if self._as_json else f'{self._label}{line}'}\n")
        sys.stdout.flush()

    def _as_object(self, line: str) -> str:
        """One JSON object with the process's name, whether the process wrote an object or plain text."""
        try:
            written = json.loads(line)
        except ValueError:
            written = None
        fields = written if isinstance(written, dict) else {"message": without_secrets(line)}
        return json.dumps({"process": self._name, **fields}, ensure_ascii=False)

    def close(self) -> None:
        """Write an unfinished last line."""
        if self._rest:
            self({"data": b"\n"})
