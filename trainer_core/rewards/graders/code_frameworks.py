"""Kinds of tests, told from their text: statements that assert, unittest or pytest. Nothing runs."""

import ast
import re
from typing import Literal

Framework = Literal["asserts", "unittest", "pytest"]
_CASE = re.compile(r"\bTestCase\b|\bIsolatedAsyncioTestCase\b")
_MADE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)


def framework_of(test: str) -> Framework:
    """The framework of a test. One that only defines cases would pass with any program where nothing runs them."""
    try:
        tree = ast.parse(test)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "asserts"  # the tests' jail says what is wrong with it
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    if any(_CASE.search(ast.unparse(base)) for node in classes for base in node.bases):
        return "unittest"
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    holds_cases = any(node.name.startswith("test") for node in functions) or any(
        node.name.startswith("Test") for node in classes
    )
    return "pytest" if holds_cases and all(map(_is_quiet, tree.body)) else "asserts"


def _is_quiet(node: ast.stmt) -> bool:
    """Whether a statement only defines: functions, classes, imports, values, what runs as a script alone."""
    if isinstance(node, _MADE):
        return True
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Assign | ast.AnnAssign):
        return True
    return isinstance(node, ast.If) and "__name__" in ast.unparse(node.test)
