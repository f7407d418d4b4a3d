"""Game of 24 (Yao et al., arXiv 2305.10601): four numbers from which to build an expression that equals 24."""

from trainer_core.datasets.fields import asked, text_of, with_columns
from trainer_core.datasets.shape import Mapped, Row, Shape

TARGET = 24
_ASK = (
    "Use each of the numbers {numbers} exactly once, with +, -, *, / and parentheses, to write an expression that "
    "equals {target}. Put the expression alone on the last line of your answer."
)
_GRADER = f"""\
import ast
import re
from fractions import Fraction

OPERATIONS = {{ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b,
              ast.Div: lambda a, b: a / b}}


def value(node, used):
    if isinstance(node, ast.Constant) and type(node.value) is int:
        used.append(node.value)
        return Fraction(node.value)
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        return OPERATIONS[type(node.op)](value(node.left, used), value(node.right, used))
    raise ValueError("no such arithmetic")


def grade(sample, item):
    lines = [line.strip() for line in sample["answer_text"].splitlines() if line.strip()]
    if not lines:
        return 0.0
    text = lines[-1].split("=")[0].replace("×", "*").replace("÷", "/").strip("`$ .")
    if len(text) > 200 or not re.fullmatch(r"[0-9+*/() -]+", text):
        return 0.0
    used = []
    try:
        result = value(ast.parse(text, mode="eval").body, used)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError):
        return 0.0
    return float(result == item.get("target", {TARGET}) and sorted(used) == sorted(item["numbers"]))
"""


def _convert(row: Row) -> Row:
    words = text_of(row, "Puzzles").split()
    if not all(word.isdecimal() and len(word) < 10 for word in words) or len(words) < 2:
        raise ValueError("`Puzzles` must be whole numbers with spaces between them.")
    question = _ASK.format(numbers=f"{', '.join(words[:-1])} and {words[-1]}", target=TARGET)
    return with_columns(row, messages=asked(question), numbers=[int(word) for word in words], target=TARGET)


GAME_OF_24 = Shape(
    name="game_of_24",
    title="Game of 24 (Tree of Thoughts)",
    columns="`Rank` and `Puzzles` (numbers with spaces between them)",
    mapping=(
        Mapped("messages", "the task with the numbers of `Puzzles`, as the user's message"),
        Mapped("numbers", "`Puzzles` as numbers"),
        Mapped("target", "24"),
    ),
    matches=lambda row: "Rank" in row and isinstance(row.get("Puzzles"), str),
    convert=_convert,
    grader={"type": "python", "source": _GRADER},
)
