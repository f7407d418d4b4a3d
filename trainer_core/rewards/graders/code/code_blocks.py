"""Finds the program in an answer. Linear time, whatever the text."""

import ast
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from trainer_core.rewards.graders.languages import LANGUAGES

_MAX_TEXT = 400_000
_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})([^\n]*)")
_ONE_LINE = re.compile(r"[ \t]*```([^`\n]+)```[ \t]*")
_TAG = re.compile(r"[\w+#.\-]+")
_MODULES = {"solution", "main", "your_module", "program", "my_module", "code", "__main__"}
"""Names under which examples of use import the program."""

_BYTE_ORDER_MARK = "\ufeff"
"""What editors of Windows put in front of a file; in front of a program it is a syntax error."""


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block."""

    tag: str
    """First word behind the opening fence, in lower case; empty where there is none."""
    code: str


def blocks(text: str) -> list[Block]:
    """Fenced blocks in order: of backticks or tildes, indented or not; one that is never closed ends with the text."""
    found: list[Block] = []
    lines = text[-_MAX_TEXT:].splitlines(keepends=True)
    at = 0
    while at < len(lines):
        line = lines[at].rstrip("\r\n")
        at += 1
        if one := _ONE_LINE.fullmatch(line):
            found.append(Block("", one.group(1) + "\n"))
            continue
        opened = _FENCE.fullmatch(line)
        if opened is None or "`" in opened.group(2):
            continue
        closing = re.compile(rf"[ \t]*{re.escape(opened.group(1)[0])}{{{len(opened.group(1))},}}[ \t]*")
        first = at
        while at < len(lines) and not closing.fullmatch(lines[at].rstrip("\r\n")):
            at += 1
        tag = _TAG.match(opened.group(2).strip().lstrip("{."))
        code = textwrap.dedent("".join(lines[first:at]).replace("\r\n", "\n")).removeprefix(_BYTE_ORDER_MARK)
        found.append(Block(tag.group().lower() if tag else "", code))
        at += 1
    return found


def program(text: str, language: str = "python", acts: bool = False) -> str:
    """The program of an answer; the whole text where it holds no fence.

    Blocks in other languages do not count where one is in the program's, or in none. Of what is left the last one is
    the program, save for Python what only shows its use: sessions, plain values, and calls of what an earlier block
    defines. A block that needs the names of earlier ones is a part of the program, behind them.

    Args:
        text: the answer.
        language: the program's language.
        acts: whether the program is run as a whole, so that the call behind its functions belongs to it.
    """
    found = blocks(text)
    if not found:
        return text.removeprefix(_BYTE_ORDER_MARK)
    names = LANGUAGES[language].fences
    chosen = [block.code for block in found if block.tag in names]
    chosen = chosen or [block.code for block in found if not block.tag] or [block.code for block in found]
    return _python(chosen, acts) if language == "python" else chosen[-1]


def has_fence(text: str) -> bool:
    """Whether the text holds a fenced block."""
    return bool(blocks(text))


def _python(codes: Sequence[str], acts: bool) -> str:
    if len(codes) == 1:
        return codes[0]
    parts = [_Part.of(code) for code in codes]
    for last in reversed(range(len(parts))):
        part, before = parts[last], parts[:last]
        if part is None:
            if any(earlier is not None and earlier.works for earlier in before) and _is_session(codes[last]):
                continue
            return codes[last]
        if not part.works or (
            part.only_uses(before) and not (acts and not any(one is not None and one.acts for one in before))
        ):
            continue
        return "\n".join(_needed(parts[: last + 1], codes))
    return codes[-1]


def _needed(parts: "Sequence[_Part | None]", codes: Sequence[str]) -> list[str]:
    """The last of ``parts`` behind those that define what it needs."""
    last = parts[-1]
    assert last is not None
    taken, missing = [codes[len(parts) - 1]], last.used - last.defined
    for index in reversed(range(len(parts) - 1)):
        part = parts[index]
        if part is not None and part.defined & missing:
            taken.insert(0, codes[index])
            missing = (missing - part.defined) | (part.used - part.defined)
    return taken


def _is_session(code: str) -> bool:
    """Whether the block is no program at all: a session of the interpreter, or what a program prints."""
    lines = [line for line in code.splitlines() if line.strip()]
    return not lines or lines[0].lstrip().startswith((">>>", "$ ", "In [")) or not re.search(r"[=(:]", code)


@dataclass(frozen=True, slots=True)
class _Part:
    """What a block of Python defines and uses at its top level."""

    defined: frozenset[str]
    used: frozenset[str]
    imported: frozenset[str]
    """Names that it imports from the program itself."""
    works: bool
    """Whether it does anything beside naming values."""
    makes: bool
    """Whether it defines functions or classes."""
    acts: bool
    """Whether running it does something beside defining names."""

    @staticmethod
    def of(code: str) -> "_Part | None":
        """None where the block is no Python."""
        try:
            tree = ast.parse(code)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
        defined: set[str] = set()
        imported: set[str] = set()
        used: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                defined.add(node.name)
            elif isinstance(node, ast.ImportFrom) and node.module in _MODULES:
                imported |= {name.name for name in node.names}
            elif isinstance(node, ast.Import | ast.ImportFrom):
                defined |= {(name.asname or name.name).partition(".")[0] for name in node.names}
            elif isinstance(node, ast.Name):
                (used if isinstance(node.ctx, ast.Load) else defined).add(node.id)
            elif isinstance(node, ast.arg):
                defined.add(node.arg)
        works = any(not isinstance(node, ast.Expr) or not _is_value(node.value) for node in tree.body)
        makes = any(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) for node in tree.body)
        acts = any(not isinstance(node, _QUIET) and not _is_text(node) for node in tree.body)
        return _Part(frozenset(defined), frozenset(used), frozenset(imported), works, makes, acts)

    def only_uses(self, before: "Sequence[_Part | None]") -> bool:
        """Whether it shows the use of what is defined before it, and is no program of its own."""
        known = frozenset[str]().union(*(part.defined for part in before if part is not None and part.makes))
        if self.imported & (known | {"*"}):
            return True
        return not self.makes and bool((self.used - self.defined) & known)


_MAKING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_QUIET = (*_MAKING, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.Pass)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_value(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant | ast.Name) or (
        isinstance(node, ast.Tuple | ast.List | ast.Dict | ast.Set | ast.UnaryOp | ast.BinOp)
        and not any(isinstance(part, ast.Call | ast.Await) for part in ast.walk(node))
    )
