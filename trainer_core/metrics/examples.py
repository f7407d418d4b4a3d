"""Runs that learn from rows: supervised and preference training."""

from trainer_core.metrics.metric import Metric

ENTRIES = (
    Metric("sft/loss", "Loss", "nats", "mean −log π_θ over the tokens of the step that teach", "examples"),
    Metric(
        "sft/loss/<source>", "Loss by source", "nats", "mean −log π_θ over the source's tokens that teach", "examples"
    ),
    Metric(
        "examples/tokens", "Tokens per step", "tokens", "tokens of the step's examples, prompts included", "examples"
    ),
    Metric(
        "examples/taught_share", "Tokens that teach", "share", "tokens in the loss / tokens of the step", "examples"
    ),
    Metric("examples/epoch", "Epoch", "epochs", "rows drawn so far / rows of all sources", "examples"),
    Metric("preference/loss", "Preference loss", "loss", "mean over the step's pairs", "preference"),
    Metric(
        "preference/accuracy",
        "Pairs in the right order",
        "share",
        "pairs whose better completion has the larger implicit reward / pairs",
        "preference",
        {"trl": "rewards/accuracies"},
    ),
    Metric(
        "preference/margin",
        "Margin",
        "reward",
        "mean implicit reward of the better completion − that of the worse one",
        "preference",
        {"trl": "rewards/margins"},
    ),
    Metric(
        "preference/chosen_logprob",
        "Likelihood of better completions",
        "nats",
        "mean log π_θ per token of the better completions",
        "preference",
        {"trl": "logps/chosen"},
    ),
    Metric(
        "preference/rejected_logprob",
        "Likelihood of worse completions",
        "nats",
        "mean log π_θ per token of the worse completions",
        "preference",
        {"trl": "logps/rejected"},
    ),
    Metric(
        "eval/<source>/loss", "Held-out loss", "nats", "mean −log π_θ over the held-out tokens that teach", "evaluation"
    ),
    Metric(
        "eval/<source>/loss/<part>",
        "Held-out loss by position",
        "nats",
        "mean −log π_θ over the held-out tokens in that quarter of their example: first, second, third, last",
        "evaluation",
    ),
    Metric(
        "eval/<source>/preference_accuracy",
        "Held-out pairs in the right order",
        "share",
        "held-out pairs whose better completion has the larger implicit reward / pairs",
        "evaluation",
    ),
    Metric(
        "eval/<source>/preference_margin",
        "Held-out margin",
        "reward",
        "mean implicit reward of the better held-out completion − that of the worse one",
        "evaluation",
    ),
)
