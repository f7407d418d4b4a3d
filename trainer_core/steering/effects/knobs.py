"""Metrics that a steerable field is meant to move, by their names in the registry."""

import re

from trainer_core.metrics import find

REWARD = "critic/score/mean"
LENGTH = "response_length/mean"
_PASSES = ("train/pass_rate/<source>", "groups/zero_advantage_share")

MEANT: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"thinking\.budget", ("thinking/mean", LENGTH, "thinking/budget_hit_share", REWARD)),
    (r"thinking\.", ("thinking/mean", LENGTH, REWARD)),
    (r"optimizer\.", ("actor/grad_norm", "actor/ppo_kl", "actor/kl_loss", REWARD)),
    (r"curriculum\.|data\.", (*_PASSES, REWARD)),
    (r"rollout\.(max_tokens|max_length)", (LENGTH, "response_length/clip_ratio", REWARD)),
    (r"rollout\.group_size", ("groups/zero_advantage_share", "actor/grad_norm", REWARD)),
    (r"rollout\.", ("actor/entropy", LENGTH, "groups/zero_advantage_share", REWARD)),
    (r"loss\.|advantage\.", ("actor/pg_clipfrac", "actor/grad_norm", "actor/ppo_kl", REWARD)),
    (r"entropy\.", ("actor/entropy", REWARD)),
    (r"kl\.", ("actor/kl_loss", REWARD)),
    (r"corrections\.", ("rollout_corr/rollout_is_eff_sample_size", "rollout_corr/rollout_is_truncated_share", REWARD)),
    (r"reward\.", (REWARD, "critic/score/std", "groups/zero_advantage_share", LENGTH)),
    (r"filters\.", ("groups/zero_advantage_share", "groups/count", REWARD)),
)
OTHERWISE = (REWARD, LENGTH, "actor/grad_norm")

NO_OUTCOMES = frozenset(
    {
        "actor/entropy_weight", "actor/lr", "control/revision", "critic/lr", "curriculum/stage",
        "response_length/window", "thinking/budget", "training/policy_version", "training/tokens_total",
        "eval/<source>/score/error", "eval/<source>/pass_rate/low", "eval/<source>/pass_rate/high",
        "eval/<source>/pass_at/<k>/low", "eval/<source>/pass_at/<k>/high",
    }
)  # fmt: skip
"""Settings, counters, errors and ends of intervals: they move by themselves, or because a user set them."""


def meant_to_move(target: str) -> tuple[str, ...]:
    """Registry names of the metrics that a field is meant to move, the most direct first."""
    return next((names for pattern, names in MEANT if re.match(pattern, target)), OTHERWISE)


def entry(reported: str) -> str:
    """The registry name of a reported metric, or the metric's own name if the registry does not know it."""
    found = find(reported)
    return found.name if found else reported
