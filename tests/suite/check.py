"""``python -m tests.suite.check``: the tests that a change touches, nearest first, in less than two minutes.

For a person at work. Nearest are the changed test files and those that mirror a changed source; then come tests that
import a changed module, tests that import one of its importers, and so on, for as long as the committed ledger of costs
allows. What is left for ``make test`` is listed. To compare with another commit: ``BASE=main make check``.
"""

import ast
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import grimp

from tests.suite import costs
from tests.suite.digests import ROOT

PACKAGES = ("dressage", "dressage_sdk", "worker", "trainer_core", "kernels", "deploy")
CPU_SECONDS = 150.0
"""What two cores do in a minute and a half, with the start of two test processes taken off."""
OTHER_SOURCES = (
    ("frontend/openapi.json", "tests/platform/conformance"),
    ("frontend/openapi.json", "tests/platform/common"),
    ("trainer_core/spec/recipes/", "tests/trainer_core/spec"),
    ("trainer_core/spec/recipes/", "tests/trainer_core/update/test_recipes_learn.py"),
    ("deploy/", "tests/deploy"),
    ("docs/", "tests/docs"),
    ("demo/", "tests/platform/supervisor"),
    ("sdk/", "tests/sdk"),
    ("scripts/", "tests/scripts"),
    (".ci/", "tests/scripts"),
    ("tests/suite/", "tests/suite"),
)
"""Files that no import leads to, by the start of their path, and the tests that read them."""


def main() -> int:
    """Exit status: 0 if everything that ran passed."""
    changed = changed_files(os.environ.get("BASE"))
    if not changed:
        print("Nothing has changed. Name a commit to compare with: BASE=HEAD~3 make check")
        return 0
    print(f"{len(changed)} changed files")
    nearest = by_distance(changed)
    chosen, left = within(nearest, CPU_SECONDS, costs.read()["files"])
    statuses = [_run("ruff", "check", *existing(changed, ".py")), _vitest(existing(changed, ".ts", ".tsx"))]
    if chosen:
        print(f"{len(chosen)} test files, the nearest of {len(nearest)}")
        statuses.append(_run("pytest", "-n", "2", "--dist", "loadscope", "--tier", "change", *chosen))
    if left:
        some = "".join(f"\n  {name}" for name in left[:10])
        print(f"{len(left)} test files that are further away run in make test:{some}{' …' if left[10:] else ''}")
    return max(statuses)


def changed_files(base: str | None) -> list[str]:
    """Paths that differ from a commit, by default from the last one, and new files that git does not ignore."""
    differing = _git("diff", "--name-only", base or "HEAD")
    return sorted({*differing, *_git("ls-files", "--others", "--exclude-standard")})


def by_distance(changed: Iterable[str]) -> dict[str, int]:
    """Test files that the changed files can reach, nearest first, with the number of imports between them."""
    changed = list(changed)
    found = {name: 0 for name in changed if _is_test(name) and (ROOT / name).exists()}
    for name in changed:
        for start, tests in OTHER_SOURCES:
            if name.startswith(start):
                found |= {test: 0 for test in _test_files(ROOT / tests)}
        found |= {test: 0 for test in _mirror(name)}
    reached = _modules_by_distance(changed)
    for test in _test_files(ROOT / "tests"):
        distances = [reached[module] + 1 for module in _imports(ROOT / test) if module in reached]
        if distances:
            found[test] = min(distances) if test not in found else found[test]
    return dict(sorted(found.items(), key=lambda entry: (entry[1], entry[0])))


def within(nearest: dict[str, int], cpu_seconds: float, files: dict[str, float]) -> tuple[list[str], list[str]]:
    """Divide test files: as many of the nearest as cost less than ``cpu_seconds`` together, and the others.

    A file that costs too much is passed over for cheaper ones behind it; one without a known cost counts as one second.
    """
    chosen, left, spent = [], [], 0.0
    for name in nearest:
        cost = files.get(name, 1.0)
        if spent + cost <= cpu_seconds:
            chosen.append(name)
            spent += cost
        else:
            left.append(name)
    return chosen, left


def existing(changed: Iterable[str], *endings: str) -> list[str]:
    """Changed files of a kind that were not deleted."""
    return [name for name in changed if name.endswith(endings) and (ROOT / name).exists()]


def _modules_by_distance(changed: Iterable[str]) -> dict[str, int]:
    """Modules that import a changed one, directly (1) or through others (more); 0 for the changed ones themselves.

    Modules under ``tests`` count, too: a changed fixture reaches those who use it.
    """
    graph = grimp.build_graph(*PACKAGES, include_external_packages=False, cache_dir=None)
    importers: dict[str, set[str]] = {}
    for test in Path(ROOT / "tests").rglob("*.py"):
        name = _module(test.relative_to(ROOT).as_posix())
        for imported in _imports(test):
            importers.setdefault(imported, set()).add(name)
    reached = {_module(name): 0 for name in changed if name.endswith(".py")}
    waiting = list(reached)
    for module in waiting:
        direct = set(graph.find_modules_that_directly_import(module)) if module in graph.modules else set()
        for importer in direct | importers.get(module, set()):
            if importer not in reached:
                reached[importer] = reached[module] + 1
                waiting.append(importer)
    return reached


def _imports(path: Path) -> set[str]:
    """Modules that a file imports, anywhere in it; names that it takes from a package may be modules of it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names


def _module(name: str) -> str:
    """``platform/dressage/runs/models.py`` is ``dressage.runs.models``."""
    inside = name.removeprefix("platform/").removeprefix("sdk/")
    return inside.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _mirror(name: str) -> list[str]:
    """Test files with the name of a source, in the folder that mirrors its own or in one above."""
    source = Path(name.replace("platform/dressage/", "platform/", 1))
    if source.suffix != ".py" or name.startswith("tests/"):
        return []
    folders = [ROOT / "tests" / folder for folder in source.parents if folder != Path(".")]
    candidates = [folder / f"test_{source.stem}.py" for folder in folders]
    return [path.relative_to(ROOT).as_posix() for path in candidates if path.exists()]


def _test_files(place: Path) -> list[str]:
    found = [place] if place.is_file() else sorted(place.rglob("test_*.py"))
    return [path.relative_to(ROOT).as_posix() for path in found]


def _is_test(name: str) -> bool:
    return name.startswith("tests/") and Path(name).name.startswith("test_") and name.endswith(".py")


def _vitest(sources: list[str]) -> int:
    if not sources:
        return 0
    inside = [name.removeprefix("frontend/") for name in sources]
    return subprocess.run(["npx", "vitest", "related", "--run", *inside], cwd=ROOT / "frontend", check=False).returncode


def _run(module: str, *arguments: str) -> int:
    if module == "ruff" and len(arguments) == 1:
        return 0
    return subprocess.run([sys.executable, "-m", module, *arguments], cwd=ROOT, check=False).returncode


def _git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


if __name__ == "__main__":
    sys.exit(main())
