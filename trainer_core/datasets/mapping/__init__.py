"""Mappings that people make for rows of no known shape: their document, what it makes of a row, and a first guess."""

from trainer_core.datasets.mapping.document import DatasetMapping
from trainer_core.datasets.mapping.proposal import Proposal, propose
from trainer_core.datasets.mapping.shape import shape_of

__all__ = ["DatasetMapping", "Proposal", "propose", "shape_of"]
