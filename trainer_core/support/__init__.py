"""Architectures that the platform trains, what of it works with each, and refusals that say what to do instead.

It reads only ``config.json`` and needs no torch, so the web tier can check before anything starts.
"""

from trainer_core.support.architectures import ARCHITECTURES, Support, support_of
from trainer_core.support.refusals import objections, refusal

__all__ = ["ARCHITECTURES", "Support", "objections", "refusal", "support_of"]
