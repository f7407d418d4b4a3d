"""Prefixes each line of a process with its name, in a colour of its own where there is a terminal."""

import re
import sys
from typing import Any

_COLOURS = (36, 33, 32, 35, 34, 96, 93, 92)


class PrefixedOutput:
    """A circus stream: gets chunks of bytes, writes whole lines."""

    def __init__(self, name: str, index: int, width: int, muted: str | None = None) -> None:
        label = f"{name:<{width}} │ "
        self._label = f"\x1b[{_COLOURS[index % len(_COLOURS)]}m{label}\x1b[0m" if sys.stdout.isatty() else label
        self._muted = re.compile(muted) if muted else None
        self._rest = b""

    def __call__(self, data: dict[str, Any]) -> None:
        """Write the complete lines of ``data["data"]``; keep the beginning of an unfinished one."""
        *lines, self._rest = (self._rest + data["data"]).split(b"\n")
        for line in (raw.decode(errors="replace") for raw in lines):
            if not (self._muted and self._muted.search(line)):
                sys.stdout.write(f"{self._label}{line}\n")
        sys.stdout.flush()

    def close(self) -> None:
        """Write an unfinished last line."""
        if self._rest:
            self({"data": b"\n"})
