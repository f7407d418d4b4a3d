"""Runs that learn from rows: supervised and preference training."""

from typing import Literal

from trainer_core.metrics.metric import Metric

ENTRIES = (
    Metric("sft/loss", "Loss per token", "nats", "mean −log π_θ over the tokens of the step that teach", "examples"),
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
PARTS = ("first", "second", "third", "last")
"""Values of ``<part>``: quarters of an example."""
SHARED = frozenset(
    {
        *("training/policy_version", "training/tokens_total", "control/revision", "checkpoint/failures"),
        *("train/mix/<source>", "data/groups/<source>", "data/share/<source>"),
        *("actor/loss", "actor/grad_norm", "actor/lr"),
        *("moe/router_entropy", "moe/max_violation", "moe/idle_experts", "moe/aux_loss", "moe/bias_spread"),
        *("timing_s/step", "timing_s/learn", "timing_s/wait"),
        *("perf/throughput", "perf/mfu", "perf/learner_memory_max"),
    }
)
"""Metrics of runs that learn from rewards that runs which learn from rows report as well."""
_OWN = frozenset(metric.name for metric in ENTRIES)
_OTHERS = {"sft": ("preference/", "eval/<source>/preference_"), "preference": ("sft/",)}
"""Beginnings of the names in ``ENTRIES`` that runs with this objective do not report."""


def is_reported(entry: str, objective: Literal["rl", "sft", "preference"]) -> bool:
    """Whether runs with this objective may report the metric of this entry of the registry."""
    if objective == "rl":
        return entry not in _OWN
    return entry in SHARED or (entry in _OWN and not entry.startswith(_OTHERS[objective]))
