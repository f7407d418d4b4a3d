"""Datasets as people have them: shapes that are known at sight, and how each becomes rows for prompts and graders."""

from trainer_core.datasets.control_tokens import control_tokens
from trainer_core.datasets.recognition import UnknownShapeError, recognise
from trainer_core.datasets.shape import Mapped, Row, Shape
from trainer_core.datasets.shapes import SHAPES

__all__ = [
    "SHAPES",
    "Mapped",
    "Row",
    "Shape",
    "UnknownShapeError",
    "control_tokens",
    "recognise",
]
