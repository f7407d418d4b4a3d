"""Data that moves through the loop: trajectories with their verdict and credit, and the groups that are compared."""

from trainer_core.episodes.credit import Credit
from trainer_core.episodes.trajectory import ARRAYS, PER_TOKEN, FinishReason, Group, Rows, Trajectory
from trainer_core.episodes.turns import Author, Turn, begun, spans
from trainer_core.episodes.verdict import Verdict

__all__ = [
    "ARRAYS",
    "PER_TOKEN",
    "Author",
    "Credit",
    "FinishReason",
    "Group",
    "Rows",
    "Trajectory",
    "Turn",
    "Verdict",
    "begun",
    "spans",
]
