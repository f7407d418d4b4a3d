"""Metrics of the distance between engine and learner, and between old and new policies.

w is the raw importance weight π_learner / π_behaviour of a token, W the product of w over a completion.
"""

from trainer_core.metrics.metric import Metric

_R = "rollout_corr/"

_CAUSES_AND_SPREAD: tuple[tuple[str, str, str, str], ...] = (
    (_R + "numerics_kl", "Mismatch by numerics", "nats", "rollout_corr/kl over tokens of the learner's own version"),
    (_R + "numerics_k3_kl", "Mismatch by numerics (k3)", "nats", "rollout_corr/k3_kl over tokens of that version"),
    (_R + "staleness_kl", "Mismatch by staleness", "nats", "rollout_corr/kl over tokens of older versions"),
    (_R + "staleness_k3_kl", "Mismatch by staleness (k3)", "nats", "rollout_corr/k3_kl over tokens of older versions"),
    *(
        (_R + f"cause/{cause}", f"Mismatch: {cause}", "nats", f"frozen-weight rescoring: mean absolute part of {what}")
        for cause, what in (
            ("numerics", "engine and learner at the same weights"),
            ("staleness", "changes of the weights in between"),
            ("truncation", "top-k and top-p"),
            ("template", "the learner's own rendering of the prompt"),
            ("unexplained", "remainder at the same weights"),
        )
    ),
    (_R + "stale_token_share", "Stale tokens", "share", "tokens of older versions than the learner's / tokens"),
    (
        _R + "training_ppl",
        "Perplexity under the learner",
        "1",
        "mean over responses of exp(−mean log π_learner over sampled tokens)",
    ),
    (_R + "ppl_ratio", "Perplexity ratio", "1", "mean over responses of learner's / engine's perplexity"),
    (
        _R + "log_ppl_diff",
        "Perplexity shift",
        "nats",
        "mean over responses of log perplexity under the learner − under the engine",
    ),
    (_R + "log_ppl_diff_max", "Largest perplexity shift", "nats", "largest such difference of a response"),
    (_R + "log_ppl_diff_min", "Smallest perplexity shift", "nats", "smallest such difference of a response"),
    (_R + "chi2_token", "χ² per token", "1", "mean of w² − 1"),
    (_R + "chi2_seq", "χ² per response", "1", "mean of W² − 1"),
    (_R + "rollout_is_std", "Ratio deviation", "1", "population standard deviation of w"),
    (_R + "rollout_is_min", "Smallest ratio", "1", "min of w"),
    (_R + "rollout_is_ratio_fraction_high", "High ratios", "share", "tokens with w > 2"),
    (_R + "rollout_is_ratio_fraction_low", "Low ratios", "share", "tokens with w < 0.5"),
    (_R + "rollout_is_seq_mean", "Ratio of a response", "1", "mean of W, raw"),
    (_R + "rollout_is_seq_std", "Ratio deviation of responses", "1", "population standard deviation of W"),
    (_R + "rollout_is_seq_max", "Largest ratio of a response", "1", "max of W, log W capped at 20"),
    (_R + "rollout_is_seq_min", "Smallest ratio of a response", "1", "min of W"),
    (_R + "rollout_is_seq_ratio_fraction_high", "High ratios of responses", "share", "responses with W > 2"),
    (_R + "rollout_is_seq_ratio_fraction_low", "Low ratios of responses", "share", "responses with W < 0.5"),
    (
        _R + "rollout_is_seq_eff_sample_size",
        "Effective sample size of responses",
        "share",
        "mean(W)² / mean(W²), raw",
    ),
)

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
        "tokens excluded because their w is outside the band",
        "mismatch",
    ),
    Metric(
        "rollout_corr/opsm_masked_share",
        "Masked by drift",
        "share",
        "tokens excluded because A < 0 and their completion has drifted",
        "mismatch",
    ),
    Metric(
        "rollout_corr/geometric_masked_share",
        "Masked by mean ratio",
        "share",
        "tokens excluded because the geometric mean of their completion's ratios is outside the band",
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
    Metric("staleness/share/<age>", "Tokens of an age", "share", "sampled tokens from weights of that age", "mismatch"),
    Metric(
        "probe/mean_abs_diff",
        "Probe, mean",
        "nats",
        "mean difference between engine and learner on the probe's text after a weight update, without the largest of"
        " each fifty tokens",
        "mismatch",
    ),
    Metric("probe/p95_abs_diff", "Probe, 95 % quantile", "nats", "95 % quantile of the differences on it", "mismatch"),
    Metric("probe/max_abs_diff", "Probe, largest", "nats", "largest difference on it", "mismatch"),
    Metric(
        "probe/noise_floor",
        "Probe, noise",
        "nats",
        "the mean difference at the start, at the same weights, plus the learner's own rounding since",
        "mismatch",
    ),
    Metric(
        "probe/weights_read_share",
        "Weights read back",
        "share",
        "weights in tensors whose columns were read through the engines' kernels and compared bit for bit",
        "mismatch",
    ),
    *(Metric(*entry, "mismatch") for entry in _CAUSES_AND_SPREAD),
)
