"""Rubrics of PaperBench (Starace et al., arXiv 2504.01848): a tree of requirements, whose leaves are judged."""

from typing import Any

from trainer_core.datasets.fields import asked, text_of, with_columns
from trainer_core.datasets.shape import Mapped, Row, Shape

_MOST, _DEEPEST = 64, 30
"""Most criteria that the grader reads, and most levels of a tree."""
_NAME, _DESCRIPTION = 200, 4000


def _convert(row: Row) -> Row:
    text_of(row, "requirements")
    level = [(row, 1.0)]
    # Leaves if there are few enough; otherwise the nodes of the deepest level with few enough nodes.
    for _ in range(_DEEPEST):
        below = [part for node, share in level for part in _parts(node, share)]
        if len(below) > _MOST or len(below) == len(level):
            break
        level = below
    rubric = [
        {
            "name": f"{place}. {node['requirements'].strip()}"[:_NAME],
            "description": node["requirements"].strip()[:_DESCRIPTION],
            "weight": round(100 * share, 6) or 1e-6,
        }
        for place, (node, share) in enumerate(level, 1)
    ]
    task = f"Carry out the research that these requirements describe.\n\n{_outline(row)}"
    return with_columns(row, messages=asked(task), rubric=rubric)


def _parts(node: Row, share: float) -> list[tuple[Row, float]]:
    """The node's subtasks, each with its part of the share; for a leaf, the leaf itself."""
    found: Any = node.get("sub_tasks")
    if not found:
        return [(node, share)]
    if not isinstance(found, list) or not all(
        isinstance(one, dict) and isinstance(one.get("requirements"), str) and one["requirements"].strip()
        for one in found
    ):
        raise ValueError("`sub_tasks` must be a list of objects with `requirements`.")
    weights = [one.get("weight", 1) for one in found]
    if not all(isinstance(weight, int | float) and weight >= 0 for weight in weights) or not sum(weights):
        raise ValueError("The `weight` of each of the `sub_tasks` must be a number of at least 0, and not all 0.")
    pairs = zip(found, weights, strict=True)
    return [(one, share * weight / sum(weights)) for one, weight in pairs if weight]


def _outline(root: Row) -> str:
    lines = [str(root["requirements"]).strip()]
    lines += [f"- {node['requirements'].strip()}" for node, _ in _parts(root, 1.0) if node is not root]
    return "\n".join(lines)


PAPERBENCH = Shape(
    name="paperbench",
    title="PaperBench rubric",
    columns="`requirements` and `sub_tasks` (a tree)",
    mapping=(
        Mapped("messages", "`requirements` of the tree and of its first level, as the user's message"),
        Mapped("rubric", "the deepest level of the tree with 64 criteria at most, weights multiplied"),
    ),
    matches=lambda row: isinstance(row.get("requirements"), str) and isinstance(row.get("sub_tasks"), list),
    convert=_convert,
    grader={"type": "rubric", "items_field": "rubric"},
)
