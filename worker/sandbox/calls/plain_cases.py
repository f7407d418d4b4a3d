"""Modules for pytest that are simple enough to run without it: the fast path.

``count`` reads from the text how many cases pytest would collect, ``collect`` finds them in the module that has run.
Anything that either is unsure about, and a difference between the two, is left to pytest.
"""

import ast
import inspect
import re
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

_BEYOND = re.compile(
    r"pytest|__test__|load_tests|doctest"
    r"|\b(?:setup|teardown)(?:_(?:module|function|class|method))?\b|\bsetUpModule\b|\btearDownModule\b"
)
"""Parts of pytest, and names whose effect on a module only pytest knows."""
_CASE_BASES = {"unittest.TestCase", "TestCase", "unittest.IsolatedAsyncioTestCase", "IsolatedAsyncioTestCase"}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_PROGRAM = {"solution", "main", "your_module", "my_module", "program"}
_FILES = ("<setup>", "<test>")


class _UnsureError(Exception):
    """Only pytest knows what it would collect."""


def count(text: str) -> int | None:
    """Number of cases that pytest collects in a module; None if only pytest can say."""
    if _BEYOND.search(text):
        return None
    try:
        tree = ast.parse(text)
        return _counted(tree)
    except (_UnsureError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def collect(space: Mapping[str, Any]) -> tuple[list[Callable[[], Any]], Any]:
    """Test functions and methods, ready to be called, and a suite of the cases of unittest."""
    import unittest

    functions: list[Callable[[], Any]] = []
    suite, loader = unittest.TestSuite(), unittest.TestLoader()
    for name, value in list(space.items()):
        if isinstance(value, types.FunctionType) and name.startswith("test"):
            if value.__code__.co_filename in _FILES:
                functions.append(value)
        elif isinstance(value, type) and value.__module__ == "test":
            if issubclass(value, unittest.TestCase):
                suite.addTest(loader.loadTestsFromTestCase(value))
            elif name.startswith("Test") and value.__init__ is object.__init__ and value.__new__ is object.__new__:
                functions += [_method(value, one) for one in _method_names(value)]
    return functions, suite


def _method(kind: type, name: str) -> Callable[[], Any]:
    """Each method runs on an object of its own, created when its turn comes."""
    return lambda: getattr(kind(), name)()


def _method_names(kind: type) -> list[str]:
    names = {name: None for base in reversed(kind.__mro__) for name in vars(base) if name.startswith("test")}
    return [name for name in names if inspect.isfunction(inspect.getattr_static(kind, name))]


def _counted(tree: ast.Module) -> int:
    functions: set[str] = set()
    classes: dict[str, ast.ClassDef] = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            classes[node.name] = node
        elif isinstance(node, _FUNCTIONS):
            if node.name.startswith("test"):
                functions.add(_plain(node, 0))
        else:
            _refuse_bindings(node)
    return len(functions) + sum(_cases(name, classes) for name in classes)


def _cases(name: str, classes: Mapping[str, ast.ClassDef]) -> int:
    """The cases of a class; 0 if it is none that pytest collects."""
    family = list(_family(name, classes, ()))
    is_case = any(ast.unparse(base) in _CASE_BASES for node in family for base in node.bases)
    if not is_case and not name.startswith("Test"):
        return 0
    if any(node.decorator_list or node.keywords for node in family):
        raise _UnsureError
    members = [member for node in family for member in node.body]
    named = [member for member in members if isinstance(member, _FUNCTIONS)]
    if not is_case and any(member.name in ("__init__", "__new__") for member in named):
        return 0
    for member in members:
        if isinstance(member, ast.ClassDef) and member.name.startswith(("Test", "test")):
            raise _UnsureError
        if not isinstance(member, (*_FUNCTIONS, ast.ClassDef)):
            _refuse_bindings(member)
    tests = [member for member in named if member.name.startswith("test")]
    if is_case:
        return len({member.name for member in tests}) or any(member.name == "runTest" for member in named)
    return len({_plain(member, 1) for member in tests})


def _family(name: str, classes: Mapping[str, ast.ClassDef], below: tuple[str, ...]) -> Iterator[ast.ClassDef]:
    """A class and its bases in the module. Unsure about bases from elsewhere."""
    if name in below:
        raise _UnsureError
    node = classes[name]
    yield node
    for base in node.bases:
        text = ast.unparse(base)
        if text in classes:
            yield from _family(text, classes, (*below, name))
        elif text not in _CASE_BASES | {"object"} and (name.startswith("Test") or "Case" in text or below):
            raise _UnsureError


def _plain(node: ast.FunctionDef | ast.AsyncFunctionDef, arguments: int) -> str:
    """The name of a test function that can simply be called. Unsure about any other."""
    parameters = node.args
    most = len(parameters.posonlyargs) + len(parameters.args)
    others = parameters.vararg or parameters.kwarg or parameters.kwonlyargs or parameters.defaults
    if isinstance(node, ast.AsyncFunctionDef) or node.decorator_list or most != arguments or others:
        raise _UnsureError
    if any(isinstance(part, ast.Yield | ast.YieldFrom) for part in _own(node)):
        raise _UnsureError
    return node.name


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function, without those of functions inside it."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, (*_FUNCTIONS, ast.Lambda, ast.ClassDef)):
            yield child
            yield from _own(child)


def _refuse_bindings(root: ast.AST) -> None:
    """Unsure about tests that are imported or defined under a condition. Assignments show in what has run."""
    for node in ast.walk(root):
        if isinstance(node, ast.Import | ast.ImportFrom):
            if isinstance(node, ast.ImportFrom) and node.module in _PROGRAM:
                continue
            if any(_is_test(name.asname or name.name) or name.name == "*" for name in node.names):
                raise _UnsureError
        elif isinstance(node, ast.ClassDef) or (isinstance(node, _FUNCTIONS) and _is_test(node.name)):
            raise _UnsureError


def _is_test(name: str) -> bool:
    return name.startswith(("test", "Test"))
