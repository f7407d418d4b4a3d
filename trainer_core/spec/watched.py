"""Metrics by which several methods are watched, named once; see ``spec.base.Advice``."""

GROUP = ("critic/score/mean", "groups/zero_advantage_share", "critic/score/std")
"""Metrics for advantages that compare the samples of a group."""
RATIO = ("actor/ppo_kl", "actor/entropy", "actor/pg_clipfrac", "actor/grad_norm")
"""Metrics for losses with an importance ratio."""
MISMATCH = ("rollout_corr/kl", "rollout_corr/rollout_is_eff_sample_size", "rollout_corr/rollout_is_max")
"""Metrics for what weighs samples of another policy."""
LENGTH = ("response_length/mean", "response_length/clip_ratio", "critic/score/mean")
"""Metrics for what changes how long completions get."""
AGE = ("staleness/mean", "staleness/max", "rollout_corr/staleness_kl", "perf/engine_busy_share")
"""Metrics for modes in which samples grow old."""
PROMPTS = ("train/pass_rate/<source>", "groups/zero_advantage_share", "train/mix/<source>")
"""Metrics for what chooses among prompts."""
PREDICTED = "curriculum/prediction_r2/<source>"
"""Metric for what predicts pass rates."""
