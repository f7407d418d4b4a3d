"""Arithmetic with matrices, exact and cell by cell, while trees are built."""

from collections.abc import Sequence

from trainer_core.rewards.mathematics.tree import Node, UnreadableError, is_scalar, node, product, total, walk

_MOST_PRODUCTS = 2_000
"""Products of cells that one operation may take."""


def matrix_sum(matrices: Sequence[Node]) -> Node:
    """The sum of ``matrices``. Raises UnreadableError if their shapes differ, or one of them is no matrix."""
    if any(one.head != "matrix" for one in matrices) or len({_shape(one) for one in matrices}) != 1:
        raise UnreadableError("a sum of matrices of several shapes")
    rows = zip(*(one.parts for one in matrices), strict=True)
    return _matrix([[total(cells) for cells in zip(*(row.parts for row in same), strict=True)] for same in rows])


def matrix_product(factors: Sequence[Node]) -> Node:
    """The product of matrices in their order, and of scalars among them.

    Raises:
        UnreadableError: their shapes do not fit.
    """
    scalars = [factor for factor in factors if factor.head != "matrix"]
    if not all(map(is_scalar, scalars)) or any(part.head == "matrix" for one in scalars for part in walk(one)):
        raise UnreadableError("a product of a matrix and what is no number")
    matrices = [factor for factor in factors if factor.head == "matrix"]
    found = matrices[0]
    for other in matrices[1:]:
        found = _times(found, other)
    if not scalars:
        return found
    return _matrix([[product([*scalars, cell]) for cell in row.parts] for row in found.parts])


def matrix_power(matrix: Node, exponent: Node) -> Node:
    """A whole power of a square matrix, or its transpose for the letter T. Raises UnreadableError for others."""
    if exponent.head == "symbol" and exponent.text in ("T", "top"):
        return _matrix([list(column) for column in zip(*(row.parts for row in matrix.parts), strict=True)])
    value = exponent.value
    if exponent.head != "number" or value.denominator != 1 or not 1 <= value <= 30:
        raise UnreadableError("such a power of a matrix")
    found = matrix
    for _ in range(int(value) - 1):
        found = _times(found, matrix)
    return found


def _times(one: Node, other: Node) -> Node:
    (height, inner), (same, width) = _shape(one), _shape(other)
    if inner != same or height * inner * width > _MOST_PRODUCTS:
        raise UnreadableError("a product of matrices whose shapes do not fit")
    columns = list(zip(*(row.parts for row in other.parts), strict=True))
    return _matrix(
        [
            [total([product(pair) for pair in zip(row.parts, column, strict=True)]) for column in columns]
            for row in one.parts
        ]
    )


def _shape(matrix: Node) -> tuple[int, int]:
    return len(matrix.parts), len(matrix.parts[0].parts)


def _matrix(rows: Sequence[Sequence[Node]]) -> Node:
    return node("matrix", [node("row", row) for row in rows])
