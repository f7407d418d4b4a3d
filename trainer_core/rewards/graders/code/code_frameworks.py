"""Kinds of tests, recognised from their text: statements that assert, unittest or pytest. Nothing runs."""

import ast
import re
from collections.abc import Iterator
from typing import Literal

Framework = Literal["asserts", "unittest", "pytest", "conftest"]
"""``conftest``: fixtures and hooks for the pytest modules of the same row, without cases of its own."""
_CASE = re.compile(r"\bTestCase\b|\bIsolatedAsyncioTestCase\b")
_PYTEST = re.compile(r"\bpytest\b")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_MADE = (*_FUNCTIONS, ast.ClassDef, ast.Import, ast.ImportFrom)
_FINDS = {"globals", "locals", "vars", "dir", "inspect"}
"""Names by which a script finds its own functions."""


def framework_of(test: str) -> Framework:
    """The framework of a test. One that only defines cases would pass with any program if nothing ran them."""
    tree = _parsed(test)
    if tree is None:
        return "asserts"  # the tests' jail reports what is wrong with it
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    cases = [node for node in classes if any(_CASE.search(ast.unparse(base)) for base in node.bases)]
    functions = [node for part in tree.body for node in _defined(part) if node.name.startswith("test")]
    others = [node.name for node in functions]
    others += [node.name for node in classes if node not in cases and _holds_cases(node, classes)]
    if cases:
        return "pytest" if others or _PYTEST.search(test) else "unittest"
    if others:
        loud = [node for node in tree.body if not _is_quiet(node)]
        used = {part.id for node in loud for part in ast.walk(node) if isinstance(part, ast.Name)}
        called = used >= set(others) or (used & _FINDS and any(node.args.args for node in functions))
        return "asserts" if loud and called else "pytest"
    return "conftest" if _is_conftest(tree) else "asserts"


def runs_nothing(test: str) -> bool:
    """Whether a test only defines functions or classes, so it would pass with any program."""
    tree = _parsed(test)
    if tree is None or not any(isinstance(node, (*_FUNCTIONS, ast.ClassDef)) for node in tree.body):
        return False
    return all(isinstance(node, _MADE) or _is_value(node) for node in tree.body)


def _parsed(test: str) -> ast.Module | None:
    try:
        return ast.parse(test)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _defined(node: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Functions that a statement defines at the top of a module, also under a condition."""
    if isinstance(node, _FUNCTIONS):
        yield node
    elif not isinstance(node, ast.ClassDef | ast.expr):
        for child in ast.iter_child_nodes(node):
            yield from _defined(child)


def _holds_cases(node: ast.ClassDef, classes: list[ast.ClassDef]) -> bool:
    """Whether pytest finds cases in a class, its own or those of a base in the module."""
    return node.name.startswith("Test") and any(
        isinstance(member, _FUNCTIONS) and member.name.startswith("test")
        for one in _family(node, {known.name: known for known in classes}, set())
        for member in one.body
    )


def _family(node: ast.ClassDef, known: dict[str, ast.ClassDef], seen: set[str]) -> Iterator[ast.ClassDef]:
    if node.name not in seen:
        seen.add(node.name)
        yield node
        for base in node.bases:
            if isinstance(base, ast.Name) and base.id in known:
                yield from _family(known[base.id], known, seen)


def _is_conftest(tree: ast.Module) -> bool:
    """Whether a module only has fixtures and hooks for other modules."""
    functions = [node for node in tree.body if isinstance(node, _FUNCTIONS)]
    return all(map(_is_quiet, tree.body)) and any(
        node.name.startswith("pytest_") or any("fixture" in ast.unparse(one) for one in node.decorator_list)
        for node in functions
    )


def _is_value(node: ast.stmt) -> bool:
    """Whether a statement names or shows a value without calling anything."""
    calls = any(isinstance(part, ast.Call) for part in ast.walk(node))
    return _is_quiet(node) and not isinstance(node, ast.If) and not calls


def _is_quiet(node: ast.stmt) -> bool:
    """Whether a statement only defines: functions, classes, imports, values, what runs as a script alone."""
    if isinstance(node, _MADE):
        return True
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Assign | ast.AnnAssign):
        return True
    return isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)
