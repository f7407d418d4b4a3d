"""Difficulty of rows for a policy: samples are spent where they decide, and golds that the policy contradicts are told.

first samples ──► prior ──► posterior of each row ──► index ──► further samples of the rows that are not settled
                                  │                                         │
                                  └──► class, dead share  ◄─────────────────┘        votes ──► suspects
"""

from trainer_core.profiling.allocation import SamplingPlan, next_round
from trainer_core.profiling.classes import PassBand, RowClass
from trainer_core.profiling.dead_groups import dead_share
from trainer_core.profiling.interval import wilson_interval
from trainer_core.profiling.prior import BetaPrior, fit_prior
from trainer_core.profiling.suspects import Suspicion, suspicions
from trainer_core.profiling.tally import RowTally, WrongAnswer, count_states

__all__ = [
    "BetaPrior",
    "PassBand",
    "RowClass",
    "RowTally",
    "SamplingPlan",
    "Suspicion",
    "WrongAnswer",
    "count_states",
    "dead_share",
    "fit_prior",
    "next_round",
    "suspicions",
    "wilson_interval",
]
