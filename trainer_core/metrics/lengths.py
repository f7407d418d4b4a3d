"""Lengths, thinking and early stops."""

from trainer_core.metrics.metric import Metric

ENTRIES = (
    Metric(
        "response_length/mean",
        "Response length",
        "tokens",
        "mean completion tokens",
        "length",
        {"trl": "completions/mean_length"},
    ),
    Metric(
        "response_length/min",
        "Shortest response",
        "tokens",
        "smallest length",
        "length",
        {"trl": "completions/min_length"},
    ),
    Metric(
        "response_length/max",
        "Longest response",
        "tokens",
        "largest length",
        "length",
        {"trl": "completions/max_length"},
    ),
    Metric("response_length/p50", "Median length", "tokens", "50th percentile", "length"),
    Metric("response_length/p95", "Long responses", "tokens", "95th percentile", "length"),
    Metric("response_length/p99", "Longest responses", "tokens", "99th percentile", "length"),
    Metric("response_length/window", "Length window", "tokens", "longest allowed completion", "length"),
    Metric(
        "response_length/clip_ratio",
        "Truncated responses",
        "share",
        "responses that ended at the maximum length",
        "length",
        {"trl": "completions/clipped_ratio"},
    ),
    Metric("prompt_length/mean", "Prompt length", "tokens", "mean prompt tokens", "length"),
    Metric("thinking/mean", "Thinking", "tokens", "mean thinking tokens", "length"),
    Metric("thinking/max", "Longest thinking", "tokens", "largest number of thinking tokens", "length"),
    Metric("thinking/budget", "Thinking budget", "tokens", "the budget in force; its mean if prompts differ", "length"),
    Metric(
        "thinking/budget_hit_share", "Budget spent", "share", "responses whose thinking was forced to end", "length"
    ),
    Metric(
        "thinking/budget_violations",
        "Budget not enforced",
        "responses",
        "responses with more thinking than budget plus forced tokens; 0 while it is enforced",
        "length",
    ),
    Metric(
        "rollouts/repetition_share", "Stopped for repetition", "share", "responses ended by an early stop", "length"
    ),
    Metric("rollouts/pruned_share", "Pruned", "share", "samples stopped in favour of their group", "length"),
    Metric("thinking/share_thinking", "Responses that think", "share", "responses with thinking tokens", "length"),
)
