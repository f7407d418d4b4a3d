"""The data of a batch, and the progress of the run."""

from trainer_core.metrics.metric import Metric

ENTRIES = (
    Metric("train/pass_rate/<source>", "Pass rate", "share", "successful samples / scored samples", "data"),
    Metric("train/mix/<source>", "Share of the mixture", "share", "groups of the source / groups", "data"),
    Metric(
        "groups/zero_advantage_share",
        "Groups without signal",
        "share",
        "groups of equal rewards / groups",
        "data",
        {"trl": "frac_reward_zero_std"},
    ),
    Metric("groups/count", "Groups", "groups", "prompt groups in the batch", "data"),
    Metric("curriculum/fallbacks", "Band empty", "draws", "draws with no row in the difficulty band so far", "data"),
    Metric(
        "curriculum/prediction_r2/<source>",
        "Predicted pass rates",
        "share",
        "1 − Σ(p − p̂)² / Σ(p − p̄)² over the prompts tried last, each predicted from the others",
        "data",
    ),
    Metric("training/policy_version", "Policy version", "versions", "updates of the policy so far", "run"),
    Metric("training/tokens_total", "Tokens", "tokens", "completion tokens so far", "run", {"trl": "num_tokens"}),
    Metric("control/revision", "Steering revision", "revision", "revision at the batch's dispatch", "run"),
)
