"""Curriculum: which prompts are drawn next."""

from trainer_core.steering.curriculum.curriculum import Curriculum
from trainer_core.steering.curriculum.draw import Draw

__all__ = ["Curriculum", "Draw"]
