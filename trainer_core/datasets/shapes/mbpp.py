"""MBPP (Austin et al., arXiv 2108.07732), whole or sanitized: a task in a sentence, and tests as asserts."""

import ast
import builtins

from trainer_core.datasets.fields import asked, is_own, renamed_to_source, text_of, texts_of, with_columns, without
from trainer_core.datasets.shape import Mapped, Row, Shape

_CODE = 200_000
"""Most characters of a solution that is searched for the name of its function."""
_MADE = ("messages", "tests", "setup", "entry_point", "task")


def _matches(row: Row) -> bool:
    if not ("test_list" in row and "code" in row and ("prompt" in row or "text" in row)):
        return False
    if not is_own(row):
        return True
    # Rows that can be stored as they are, such as those with programs in another language, stay unchanged.
    try:
        _convert(row)
        _entry_point(row)
    except ValueError:
        return False
    return not any(column in row for column in (*_MADE, "answer"))


def _convert(row: Row) -> Row:
    task = text_of(row, "prompt" if "prompt" in row else "text")
    tests = texts_of(row, "test_list")
    # As in the paper's prompt: only the tests show the name of the function.
    question = f"{task}\n\nYour code should pass these tests:\n\n" + "\n".join(tests)
    try:
        entry_point = _entry_point(row)
    except ValueError:
        if not is_own(row):
            raise
        entry_point = ""  # the row is valid without its program, which is only searched for a name
    made = {"messages": asked(question), "tests": tests, "setup": _setup(row), "entry_point": entry_point}
    return with_columns(renamed_to_source(without(row, "prompt"), *_MADE), **made, task=task)


def _setup(row: Row) -> str:
    """Code that runs before each test: imports as a list (sanitized), or text."""
    value = row.get("test_imports", row.get("test_setup_code", ""))
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "\n".join(value)
    if not isinstance(value, str):
        raise ValueError("`test_imports` must be a list of strings, and `test_setup_code` a string.")
    return value


def _entry_point(row: Row) -> str:
    """The function if it has the name of a Python builtin, which tests would use instead; otherwise empty."""
    code = text_of(row, "code")
    if len(code) > _CODE:
        raise ValueError(f"`code` has more than {_CODE:,} characters.")
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ValueError(f"`code` is not a Python program: {error}.") from error
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    return next((name for name in names if hasattr(builtins, name)), "")


MBPP = Shape(
    name="mbpp",
    title="MBPP",
    columns="`prompt` or `text`, `code` and `test_list`",
    mapping=(
        Mapped("messages", "`prompt` or `text` with the tests below it, as the user's message"),
        Mapped("tests", "`test_list`"),
        Mapped("setup", "`test_imports` or `test_setup_code`"),
        Mapped("entry_point", "the function in `code` named like one of Python's own, else empty"),
        Mapped("task", "`prompt` or `text` unchanged"),
        *(Mapped(f"source_{name}", f"`{name}` unchanged, if the file has one") for name in _MADE),
    ),
    matches=_matches,
    convert=_convert,
    grader={"type": "code_tests", "tests": "tests", "setup": "setup", "entry_point": "entry_point"},
)
