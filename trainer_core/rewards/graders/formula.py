"""The arithmetic of OpenAI's ``multi`` grader, read into a tree and computed; nothing is evaluated by Python."""

import ast
import math
from collections.abc import Callable, Mapping

from trainer_core.rewards.errors import GraderError

_FUNCTIONS: dict[str, Callable[..., float]] = {
    "min": min,
    "max": max,
    "abs": abs,
    "floor": math.floor,
    "ceil": math.ceil,
    "exp": math.exp,
    "sqrt": math.sqrt,
    "log": math.log,
}
_LONGEST = 2000
_DEEPEST = 300
"""Levels of a formula: with more, reading it could exhaust Python's stack."""


def names(formula: str) -> set[str]:
    """Names that ``formula`` uses. Raises ValueError where it is no arithmetic: + − * / ^ and the functions above."""
    if len(formula) > _LONGEST:
        raise ValueError(f"the formula is longer than {_LONGEST} characters")
    try:
        tree: ast.expr | None = _parse(formula)
    except (SyntaxError, MemoryError) as error:
        raise ValueError(f"not a formula: {error}") from error
    except RecursionError:  # how deep Python reads depends on how deep its caller stands; this far, never
        tree = None
    if tree is None or _depth(tree) > _DEEPEST:
        raise ValueError(f"the formula is nested more than {_DEEPEST} levels deep: write it with fewer operators")
    found: set[str] = set()
    _check(tree, found, _python(formula))
    return found


def compute(formula: str, values: Mapping[str, float]) -> float:
    """The value of ``formula``. Raises GraderError where it has none: a division by zero, the root of −1."""
    try:
        return float(_value(_parse(formula), values))
    except (ArithmeticError, ValueError, TypeError, RecursionError) as error:
        raise GraderError(f"{formula!r} has no value here: {error}") from error


def _parse(formula: str) -> ast.expr:
    return ast.parse(_python(formula), mode="eval").body


def _python(formula: str) -> str:
    return formula.replace("^", "**").strip()


def _depth(tree: ast.expr) -> int:
    """Levels of ``tree``, counted without recursion."""
    levels, level = 0, [tree]
    while level:
        levels, level = levels + 1, [c for node in level for c in ast.iter_child_nodes(node) if isinstance(c, ast.expr)]
    return levels


def _check(node: ast.expr, found: set[str], source: str) -> None:
    match node:
        case ast.Constant(value=int() | float()):
            return
        case ast.Name(id=name):
            found.add(name)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=inner):
            _check(inner, found, source)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div() | ast.Pow(), right=right):
            _check(left, found, source)
            _check(right, found, source)
        case ast.Call(func=ast.Name(id=name), args=[_, *_] as arguments, keywords=[]) if name in _FUNCTIONS:
            for argument in arguments:
                _check(argument, found, source)
        case _:
            text = ast.get_source_segment(source, node) or type(node).__name__
            raise ValueError(f"{text[:60]!r} is not allowed: + - * / ^ and {', '.join(_FUNCTIONS)} are")


def _value(node: ast.expr, values: Mapping[str, float]) -> float:
    match node:
        case ast.Constant(value=number):
            return float(number)  # type: ignore[arg-type]
        case ast.Name(id=name):
            return values[name]
        case ast.UnaryOp(op=sign, operand=inner):
            return -_value(inner, values) if isinstance(sign, ast.USub) else _value(inner, values)
        case ast.BinOp(left=left, op=sign, right=right):
            return _combine(sign, _value(left, values), _value(right, values))
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return _FUNCTIONS[name](*(_value(argument, values) for argument in arguments))
    raise ValueError("not a formula")


def _combine(sign: ast.operator, left: float, right: float) -> float:
    match sign:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.Div():
            return left / right
    return math.pow(left, right)
