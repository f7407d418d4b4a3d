"""Watches over a judged reward while a run goes: rubrics that evolve, and a judge that is swayed by length."""

from typing import Literal

from trainer_core.spec.base import SpecModel, field

COMPONENT = r"^[a-z0-9][a-z0-9_\-]{0,62}$"
SLUG = r"^[a-z0-9][a-z0-9_\-]{0,62}$"


class RubricEvolution(SpecModel):
    """New rubric items are proposed by contrasting the best and the worst rollout of a prompt; users decide on them.
    Nothing changes by itself: an accepted item creates a new reward version, which a control can promote. DR Tulu
    applies accepted items immediately; here a user must promote them.

    Source: DR Tulu (arXiv 2511.19399), evolving rubrics.
    """

    component: str = field(pattern=COMPONENT)
    """Component of the reward definition, graded by ``rubric``, that the items are for."""
    endpoint: str = field("default", pattern=SLUG)
    """Judge endpoint that is called."""
    every_steps: int = field(20, ge=1, le=100_000, unit="steps")
    """Steps between two requests for proposals."""
    prompts_per_step: int = field(4, ge=1, le=64, unit="prompts")
    """Prompts per request: those whose rewards differ most."""
    max_proposals: int = field(8, ge=1, le=64)
    """Most proposals kept per request."""


class LengthBias(SpecModel):
    """Watches whether a judge pays for length: the partial correlation of its grade with length, with the rules' grades
    held fixed.

    Source: MiniMax-M1 (arXiv 2506.13585), which monitors its generative reward model for length bias in training.
    """

    component: str = field(pattern=COMPONENT)
    """Component of the reward definition that a judge or a reward model grades."""
    window: int = field(1024, ge=64, le=100_000, unit="samples")
    """Newest samples that the correlation is computed over. Nothing is reported before there are that many."""
    threshold: float = field(0.3, gt=0.0, lt=1.0)
    """Size of the partial correlation above which the watch acts. It stops below half of it."""
    reaction: Literal["alert", "normalise", "recalibrate", "pause"] = "alert"
    """Only alert; or also subtract the fitted slope from the grade, recentre it within bins of length, or pause the
    run."""
