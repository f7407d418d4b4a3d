"""Checks the form of a commit message: ``area: what``, within 72 characters, then an empty line before the body."""

import re
import sys
from pathlib import Path

LONGEST = 72
_SUBJECT = re.compile(r"^[a-z0-9_./-]+: \S")
_MADE_BY_GIT = ("Merge ", "Revert ", "fixup! ", "squash! ", "amend! ")


def faults(message: str) -> list[str]:
    """What is wrong with the message, comments left out."""
    lines = [line for line in message.splitlines() if not line.startswith("#")]
    subject = lines[0] if lines else ""
    if subject.startswith(_MADE_BY_GIT):
        return []
    found = []
    if not _SUBJECT.match(subject):
        found.append(f"Begin with one area, as in `worker: name the lost rank`; this begins {subject!r}.")
    if len(subject) > LONGEST:
        found.append(f"The first line has {len(subject)} characters, {LONGEST} are the most: the rest is the body's.")
    if len(lines) > 1 and lines[1].strip():
        found.append("Leave the second line empty.")
    return found


def main() -> int:
    """Check the message in the file that git names; exit status 1 if it is ill-formed."""
    found = faults(Path(sys.argv[1]).read_text())
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
