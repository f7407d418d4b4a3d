"""Find the worker processes of this test session's own Ray: other sessions on the machine are none of our business."""

import os
from pathlib import Path


def _parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def ray_processes(class_name: str) -> list[int]:
    """Process ids of the actors of a class whose raylet is a child of this process."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            title = (entry / "cmdline").read_bytes().decode(errors="replace")
            ours = title.startswith(f"ray::{class_name}") and _parent(_parent(int(entry.name))) == os.getpid()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if ours:
            found.append(int(entry.name))
    return found
