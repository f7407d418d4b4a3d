"""How far engine and learner, and old and new policies, are apart."""

from trainer_core.metrics.metric import Metric

ENTRIES = (
    Metric(
        "rollout_corr/kl",
        "Mismatch KL",
        "nats",
        "mean of log π_behaviour − log π_learner over sampled tokens",
        "mismatch",
    ),
    Metric(
        "rollout_corr/k3_kl",
        "Mismatch KL (k3)",
        "nats",
        "mean of w − 1 − log w",
        "mismatch",
        {"prime_rl": "mismatch_kl/all/mean"},
    ),
    Metric(
        "rollout_corr/rollout_ppl",
        "Perplexity of the rollouts",
        "1",
        "mean over responses of exp(−mean log π_behaviour over sampled tokens)",
        "mismatch",
    ),
    Metric(
        "rollout_corr/log_ppl_abs_diff",
        "Perplexity difference",
        "nats",
        "mean |Δ mean log-prob| per response",
        "mismatch",
    ),
    Metric(
        "rollout_corr/max_abs_logp_diff",
        "Largest difference",
        "nats",
        "max |log π_learner − log π_behaviour|",
        "mismatch",
        {"trl": "sampling/sampling_logp_difference/max"},
    ),
    Metric(
        "rollout_corr/rollout_is_mean", "Importance ratio", "1", "mean of w = π_learner / π_behaviour, raw", "mismatch"
    ),
    Metric("rollout_corr/rollout_is_max", "Largest ratio", "1", "max of w, raw", "mismatch"),
    Metric(
        "rollout_corr/rollout_is_truncated_share",
        "Truncated ratios",
        "share",
        "tokens whose w was truncated",
        "mismatch",
    ),
    Metric(
        "rollout_corr/rollout_is_masked_share",
        "Masked ratios",
        "share",
        "tokens left out because their w lies outside the band",
        "mismatch",
    ),
    Metric(
        "rollout_corr/opsm_masked_share",
        "Masked by drift",
        "share",
        "tokens left out because A < 0 and their completion has drifted",
        "mismatch",
    ),
    Metric(
        "rollout_corr/rollout_is_eff_sample_size",
        "Effective sample size",
        "share",
        "mean(w)² / mean(w²), raw",
        "mismatch",
    ),
    Metric(
        "staleness/mean",
        "Staleness",
        "versions",
        "mean age of the tokens' weights",
        "mismatch",
        {"prime_rl": "off_policy/mean"},
    ),
    Metric("staleness/max", "Largest staleness", "versions", "largest age of a token's weights", "mismatch"),
    Metric("staleness/share/<age>", "Tokens of an age", "share", "sampled tokens of weights that old", "mismatch"),
    Metric(
        "probe/max_abs_diff", "Probe", "nats", "largest difference on fixed tokens after a weight update", "mismatch"
    ),
)
