"""Finds functions, classes and imports that nothing in the product uses; what only tests call counts as dead.

Vulture finds them by name. Fields and attributes are left out: rows, messages and patched libraries are full of those
that are written here and read elsewhere.
"""

import sys
import tomllib
from collections.abc import Iterable
from fnmatch import fnmatchcase

from vulture import Vulture
from vulture.core import Item

from scripts.lint.runner import ROOT

TREES = ("trainer_core", "worker", "kernels", "platform/dressage", "sdk/dressage_sdk", "deploy", "scripts", "manage.py")
LEFT_OUT = ["*/migrations/*"]
KINDS = {"function", "method", "property", "class", "import", "unreachable_code"}
ALLOWED = "scripts/lint/dead_code_allowed.toml"


def unused() -> list[Item]:
    """What nothing uses, whether it is allowed or not."""
    finder = Vulture(ignore_decorators=list(_allowed("decorators")))
    finder.scavenge([str(ROOT / tree) for tree in TREES], exclude=LEFT_OUT)
    return [item for item in finder.get_unused_code() if item.typ in KINDS]


def verdict(items: Iterable[Item], allowed: Iterable[str]) -> list[str]:
    """A line for each of ``items`` that no pattern of ``allowed`` matches, and for each pattern that matches none.

    Patterns are ``file:name``: a name that a framework calls in one file is dead in another.
    """
    spare, found = set(allowed), []
    for item in items:
        file = str(item.filename).removeprefix(f"{ROOT}/")
        matching = {pattern for pattern in allowed if fnmatchcase(f"{file}:{item.name}", pattern)}
        spare -= matching
        if not matching:
            found.append(f"{file}:{item.first_lineno}: unused {item.typ} {item.name}")
    return sorted(found) + [f"{ALLOWED}: {pattern} allows nothing any more: take it out" for pattern in sorted(spare)]


def _allowed(section: str) -> dict[str, str]:
    """Reason by pattern."""
    reasons: dict[str, str] = tomllib.loads((ROOT / ALLOWED).read_text())[section]
    return reasons


def main() -> int:
    """Print what is unused; exit status 1 if there is anything."""
    found = verdict(unused(), _allowed("names"))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
