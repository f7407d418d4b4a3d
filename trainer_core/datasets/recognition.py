"""Recognition of a row's shape by its columns."""

from trainer_core.datasets.shape import Row, Shape
from trainer_core.datasets.shapes import SHAPES

_SHOWN = 20
"""Most columns that a message names."""


class UnknownShapeError(ValueError):
    """The row has no known shape. The message names the columns found, the columns needed, and the shapes."""


def recognise(row: Row) -> Shape:
    """The first shape in the table that matches the row.

    Raises:
        UnknownShapeError: none matches.
    """
    for shape in SHAPES:
        if shape.matches(row):
            return shape
    names = [f"`{name[:60]}`" for name in row]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    found = f"It has the columns {', '.join(names[:_SHOWN])}{more}." if names else "It has no columns."
    known = "; ".join(f"{shape.title}: {shape.columns}" for shape in SHAPES if shape.mapping)
    raise UnknownShapeError(
        f"A row needs either `prompt` or `messages`, or the columns of a known shape. {found} Known are {known}. Map"
        " the columns yourself (`mapping`), or put each question into `prompt` and its gold answer into `answer`."
    )
