"""User-defined mappings for rows of unknown shape: their document, how it converts a row, and a first guess."""

from trainer_core.datasets.mapping.document import DatasetMapping
from trainer_core.datasets.mapping.proposal import Proposal, propose
from trainer_core.datasets.mapping.shape import shape_of

__all__ = ["DatasetMapping", "Proposal", "propose", "shape_of"]
