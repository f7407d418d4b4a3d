"""The value function, learned or by Monte Carlo."""

from trainer_core.metrics.metric import Metric

_BRANCHES = (
    ("vine/states", "Valued states", "states", "states, prompts included, from which branches started"),
    ("vine/branches", "Branches", "samples", "continuations sampled only for values, not trained on"),
    ("vine/tokens", "Tokens of branches", "tokens", "tokens sampled by branches, without their prefixes"),
    ("vine/token_share", "Cost of branches", "share", "tokens of branches / (tokens of branches + those of the batch)"),
    ("vine/error_share", "Failed branches", "share", "branches whose reward failed / branches"),
    ("vine/value/mean", "Value of states", "reward", "mean over states of the mean reward of their branches"),
)
"""Metrics of Monte-Carlo values and of their cost: (name, title, unit, formula)."""

ENTRIES = (
    Metric("critic/values/mean", "Value", "reward", "mean over tokens of the critic's value before the step", "critic"),
    Metric("critic/returns/mean", "Value target", "reward", "mean over tokens of the critic's target", "critic"),
    Metric("critic/vf_loss", "Value loss", "loss", "aggregated ½·(V − R)², clipped", "critic"),
    Metric("critic/vf_clipfrac", "Clipped values", "share", "tokens whose value error is clipped", "critic"),
    Metric(
        "critic/vf_explained_var", "Explained variance", "share", "1 − Var(R − V) / Var(R), before the step", "critic"
    ),
    Metric("critic/grad_norm", "Gradient norm of the critic", "norm", "global L2 norm before clipping", "critic"),
    Metric("critic/lr", "Learning rate of the critic", "1", "step size of the value function", "critic"),
    *(Metric(*entry, "critic") for entry in _BRANCHES),
)
