"""Registry entries of a mixture of experts: (name, title, unit, formula)."""

from trainer_core.metrics.metric import Metric

_M = "moe/"

_TABLE: tuple[tuple[str, str, str, str], ...] = (
    (_M + "router_entropy", "Router entropy", "nats", "mean over layers and predicted tokens of −Σ_e p_e · log p_e"),
    (
        _M + "max_violation",
        "Load imbalance",
        "1",
        "mean over layers of the largest expert's load / the mean load − 1, over the tokens of an update",
    ),
    (_M + "idle_experts", "Idle experts", "share", "experts that received no token of an update / experts"),
    (
        _M + "aux_loss",
        "Balancing loss",
        "nats",
        "α · mean over layers and tokens of their completion's E · Σ_e f_e · P_e",
    ),
    (_M + "bias_spread", "Spread of biases", "1", "mean over layers of the largest − the smallest bias of a router"),
    (
        _M + "replay_agreement",
        "Agreement with the engine's routes",
        "share",
        "replayed choices that match the learner's own routers / replayed choices",
    ),
)
"""Load and routes are counted at positions that predict sampled tokens."""

ENTRIES = tuple(Metric(*entry, "actor") for entry in _TABLE)
