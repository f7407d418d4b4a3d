"""Curriculum: which prompts are drawn next."""

from trainer_core.steering.curriculum.curriculum import Curriculum
from trainer_core.steering.curriculum.draw import Draw
from trainer_core.steering.curriculum.outcome import outcome
from trainer_core.steering.curriculum.stages import StageBegun

__all__ = ["Curriculum", "Draw", "StageBegun", "outcome"]
