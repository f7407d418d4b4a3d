"""What old tokens cost, and what the decoupled objective gives back: final mean reward, three seeds each."""

from typing import Any

from tests.bench.report import Figure
from tests.bench.runs import demo_spec, train
from tests.support.installation import Installation

SEEDS, STEPS, LAST = (0, 1, 2), 60, 10
DATA = {"sources": [{"name": "add_sub", "dataset": "gsm8k-add-sub@1"}]}
STALE = {"type": "async", "max_staleness": 4}
DECOUPLED = {"type": "decoupled_ppo", "ratio_min": 0.8, "ratio_max": 1.2}
COUPLED = {"type": "ppo_clip", "ratio_min": 0.8, "ratio_max": 1.2}
SIDES: dict[str, dict[str, Any]] = {
    "sync": {"rollout__mode": {"type": "sync"}, "loss": COUPLED},
    "async η = 4, decoupled": {"rollout__mode": STALE, "loss": DECOUPLED},
    "async η = 4, no correction": {"rollout__mode": STALE, "loss": COUPLED, "corrections": []},
}


def measure(installation: Installation) -> list[Figure]:
    """Mean reward of the last steps, averaged over seeds, with the lowest of them."""
    means: dict[str, float] = {}
    figures = []
    for name, changes in SIDES.items():
        finals = []
        for seed in SEEDS:
            spec = _spec(installation, seed, changes)
            rewards = [step["critic/score/mean"] for step in train(installation, f"{name}, seed {seed}", spec).metrics]
            finals.append(sum(rewards[-LAST:]) / LAST)
        means[name] = sum(finals) / len(finals)
        figures += [
            Figure(f"{name}: final mean reward", means[name]),
            Figure(f"{name}: lowest of {len(SEEDS)} seeds", min(finals)),
        ]
    sync, corrected, bare = means.values()
    return [
        *figures,
        Figure("decoupled − sync", corrected - sync, "", "≥ 0"),
        Figure("no correction − decoupled", bare - corrected, "", "visibly < 0"),
    ]


def _spec(installation: Installation, seed: int, changes: dict[str, Any]) -> dict[str, Any]:
    corrections = [] if changes["loss"] is DECOUPLED else [{"type": "truncated_is", "level": "token", "ratio_max": 2.0}]
    wanted = {"corrections": corrections, **changes}
    return demo_spec(
        installation,
        STEPS,
        schedule={"steps": STEPS, "prompts_per_step": 32, "updates_per_step": 2, "seed": seed},
        optimizer__learning_rate=1e-3,
        data=DATA,
        **wanted,
    )
