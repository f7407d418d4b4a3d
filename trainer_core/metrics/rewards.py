"""Rewards, and rewards of held-out rows."""

from trainer_core.metrics.metric import Metric

ENTRIES = (
    Metric(
        "critic/score/mean",
        "Reward",
        "reward",
        "mean of the rewards that could be computed",
        "reward",
        {"trl": "reward", "prime_rl": "train/agg/effective/reward/mean"},
    ),
    Metric(
        "critic/score/std",
        "Reward deviation",
        "reward",
        "population standard deviation of the rewards",
        "reward",
        {"trl": "reward_std"},
    ),
    Metric("critic/score/min", "Lowest reward", "reward", "smallest reward", "reward"),
    Metric("critic/score/max", "Highest reward", "reward", "largest reward", "reward"),
    Metric(
        "reward_parts/<component>/mean", "Component of the reward", "grade", "mean grade before its weight", "reward"
    ),
    Metric("reward/error_share", "Reward errors", "share", "trajectories whose reward failed / trajectories", "reward"),
    Metric(
        "reward/forgiven_share",
        "Skipped components",
        "share",
        "trajectories with a failed component that counts as 0",
        "reward",
    ),
    Metric(
        "reward/pytest_share",
        "Tests decided by pytest",
        "share",
        "modules of unittest or pytest that pytest itself had to run / modules run",
        "reward",
    ),
    Metric("reward_shadow/<version>/mean", "Shadow reward", "reward", "mean reward by a shadow version", "reward"),
    Metric(
        "reward_shadow/<version>/agreement",
        "Agreement with a shadow",
        "share",
        "trajectories that both versions grade right, or both wrong / trajectories scored by both",
        "reward",
    ),
    Metric(
        "reward_shadow/<version>/correlation",
        "Correlation with a shadow",
        "correlation",
        "Pearson correlation of both rewards, before the run's own shaping",
        "reward",
    ),
    Metric(
        "reward_shadow/<version>/errors",
        "Shadow errors",
        "trajectories",
        "trajectories that a shadow could not score",
        "reward",
    ),
    Metric(
        "reward/length_bias",
        "Length bias of the judge",
        "correlation",
        "partial correlation of grade and length at fixed reward of all other components, over a window",
        "reward",
    ),
    Metric("eval/<source>/score/mean", "Held-out reward", "reward", "mean reward on the held-out source", "evaluation"),
    Metric(
        "eval/<source>/score/error",
        "Held-out reward, standard error",
        "reward",
        "standard deviation of the prompts' mean rewards / √prompts",
        "evaluation",
    ),
    Metric(
        "eval/<source>/pass_rate", "Held-out pass rate", "share", "successful samples / scored samples", "evaluation"
    ),
    Metric(
        "eval/<source>/pass_rate/low",
        "Held-out pass rate, lower end",
        "share",
        "lower end of Wilson's 95 % interval of pass@1 over prompts",
        "evaluation",
    ),
    Metric(
        "eval/<source>/pass_rate/high",
        "Held-out pass rate, upper end",
        "share",
        "upper end of Wilson's 95 % interval of pass@1 over prompts",
        "evaluation",
    ),
    Metric(
        "eval/<source>/pass_at/<k>/mean",
        "Held-out pass@k",
        "share",
        "mean over prompts of 1 − C(n − c, k) / C(n, k), c right of n samples",
        "evaluation",
    ),
    Metric(
        "eval/<source>/pass_at/<k>/low",
        "Held-out pass@k, lower end",
        "share",
        "lower end of Wilson's 95 % interval over prompts",
        "evaluation",
    ),
    Metric(
        "eval/<source>/pass_at/<k>/high",
        "Held-out pass@k, upper end",
        "share",
        "upper end of Wilson's 95 % interval over prompts",
        "evaluation",
    ),
    Metric("eval/<source>/response_length/mean", "Held-out length", "tokens", "mean completion tokens", "evaluation"),
)
