"""Why engine and learner differ about the same tokens: metrics of a step, worst tokens, and causes told apart."""

from trainer_core.diagnosis.attribution import Attribution, ReplayedTokens, attribute
from trainer_core.diagnosis.metrics import mismatch_metrics
from trainer_core.diagnosis.worst import WORST_TOKENS, worst_tokens

__all__ = ["WORST_TOKENS", "Attribution", "ReplayedTokens", "attribute", "mismatch_metrics", "worst_tokens"]
