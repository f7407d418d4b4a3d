"""Diagnosis of why engine and learner differ about the same tokens: metrics of a step, worst tokens, causes told
apart."""

from trainer_core.diagnosis.attribution import Attribution, RescoredTokens, attribute
from trainer_core.diagnosis.metrics import mismatch_metrics
from trainer_core.diagnosis.worst import WORST_TOKENS, worst_tokens

__all__ = ["WORST_TOKENS", "Attribution", "RescoredTokens", "attribute", "mismatch_metrics", "worst_tokens"]
