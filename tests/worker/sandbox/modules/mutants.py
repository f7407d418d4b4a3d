"""Mutants of a program: one place of its syntax tree changed, as programs go wrong."""

import ast
import copy
from collections.abc import Callable, Iterator

_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.FloorDiv, ast.FloorDiv: ast.Div,
    ast.Mod: ast.FloorDiv,
}  # fmt: skip
_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


def mutants(program: str) -> list[str]:
    """All mutants of a program, each different from it and from the others, in a fixed order."""
    tree = ast.parse(program)
    found: dict[str, None] = {}
    loops = {part for node in ast.walk(tree) if isinstance(node, ast.While) for part in ast.walk(node)}
    for number, node in enumerate(ast.walk(tree)):
        if node in loops:  # it may never end
            continue
        for change in _changes(node):
            changed = copy.deepcopy(tree)
            change(list(ast.walk(changed))[number])
            found[ast.unparse(ast.fix_missing_locations(changed))] = None
    found.pop(ast.unparse(tree), None)
    return list(found)


def _changes(node: ast.AST) -> Iterator[Callable[..., None]]:
    """Changes of a node in place. ``ast.walk`` visits the same nodes of a copy in the same order."""
    match node:
        case ast.BinOp() if type(node.op) in _OPERATORS:
            yield lambda at: setattr(at, "op", _OPERATORS[type(at.op)]())
        case ast.AugAssign() if type(node.op) in _OPERATORS:
            yield lambda at: setattr(at, "op", _OPERATORS[type(at.op)]())
        case ast.Compare() if type(node.ops[0]) in _COMPARISONS:
            yield lambda at: at.ops.__setitem__(0, _COMPARISONS[type(at.ops[0])]())
        case ast.BoolOp():
            yield lambda at: setattr(at, "op", ast.Or() if isinstance(at.op, ast.And) else ast.And())
        case ast.Constant(value=bool()):
            yield lambda at: setattr(at, "value", not at.value)
        case ast.Constant(value=int() | float()):  # off by one
            yield lambda at: setattr(at, "value", at.value + 1)
            yield lambda at: setattr(at, "value", at.value - 1)
        case ast.Constant(value=str()):
            yield lambda at: setattr(at, "value", f"{at.value}x")
        case ast.Return(value=ast.expr()):
            yield lambda at: setattr(at, "value", ast.Constant(None))
        case ast.IfExp():
            yield lambda at: (setattr(at, "body", at.orelse), None)[1]
        case ast.If():
            yield lambda at: setattr(at, "test", ast.UnaryOp(ast.Not(), at.test))
        case ast.UnaryOp(op=ast.Not()):
            yield lambda at: setattr(at, "op", ast.UAdd())
