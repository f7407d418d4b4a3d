"""Digests of what a test file depends on: whether anything has changed since its tests last passed."""

import ast
import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ("requirements/runtime.lock", "requirements/dev.lock")
"""A new version of any package may change any result."""
_SKIPPED = {"__pycache__", "node_modules", "dist", "test"}
"""Folders of what is made, and of what only the console's own tests use."""
_SKIPPED_FILES = (".pyc", ".test.ts", ".test.tsx")


def digest(test_file: Path, about: Iterable[str]) -> str:
    """Digest of a test file, of the tests' own modules behind it, of ``about`` (paths from the root) and of the locks.

    Raises:
        FileNotFoundError: a path of ``about`` does not exist.
    """
    whole = hashlib.sha256()
    for path in sorted(_own_code(test_file)):
        whole.update(f"{path.relative_to(ROOT)} {_of_file(path)}\n".encode())
    for name in (*sorted(about), *LOCKS):
        whole.update(f"{name} {_of_path(ROOT / name)}\n".encode())
    return whole.hexdigest()[:20]


@cache
def _of_path(path: Path) -> str:
    if not path.exists():
        raise FileNotFoundError(path)
    if path.is_file():
        return _of_file(path)
    inside = hashlib.sha256()
    for entry in sorted(path.iterdir()):
        if entry.name not in _SKIPPED and not entry.name.endswith(_SKIPPED_FILES) and not entry.is_symlink():
            inside.update(f"{entry.name} {_of_path(entry)}\n".encode())
    return inside.hexdigest()


@cache
def _of_file(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _own_code(test_file: Path) -> set[Path]:
    """The file, the conftests that apply to it, and what these import from ``tests``."""
    tests = ROOT / "tests"
    found: set[Path] = set()
    conftests = [folder / "conftest.py" for folder in test_file.parents if folder.is_relative_to(tests)]
    waiting = [test_file, *(path for path in conftests if path.exists())]
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += _imported(path)
    return found


@cache
def _imported(path: Path) -> tuple[Path, ...]:
    """Files of ``tests`` that a file imports, anywhere in it. The suite's own machinery decides what runs, not how."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    own = (name for name in names if name.startswith("tests.") and not name.startswith("tests.suite"))
    files = (ROOT / f"{name.replace('.', '/')}.py" for name in own)
    return tuple(file for file in files if file.is_file())
