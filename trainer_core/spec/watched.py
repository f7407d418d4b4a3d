"""Metrics by which several methods are watched, named once; see ``spec.base.Advice``."""

GROUP = ("critic/score/mean", "groups/zero_advantage_share", "critic/score/std")
"""For advantages that compare the samples of a group."""
RATIO = ("actor/ppo_kl", "actor/entropy", "actor/pg_clipfrac", "actor/grad_norm")
"""For losses with an importance ratio."""
MISMATCH = ("rollout_corr/kl", "rollout_corr/rollout_is_eff_sample_size", "rollout_corr/rollout_is_max")
"""For what weighs samples of another policy."""
LENGTH = ("response_length/mean", "response_length/clip_ratio", "critic/score/mean")
"""For what changes how long completions get."""
AGE = ("staleness/mean", "staleness/max", "rollout_corr/staleness_kl", "perf/engine_busy_share")
"""For modes in which samples grow old."""
PROMPTS = ("train/pass_rate/<source>", "groups/zero_advantage_share", "train/mix/<source>")
"""For what chooses among prompts."""
