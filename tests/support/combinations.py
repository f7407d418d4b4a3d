"""Run specs for whole runs of what no recipe asks for: many methods at once, each with its own fields written out.

They say nothing of how well these learn together. What each does is tested by itself; here it stands in a run.
"""

from typing import Any

from trainer_core.spec import RunSpec

ENGINE = {"max_model_len": 96, "max_num_seqs": 256, "kv_cache_gib": 0.25}
"""The recipes', so that one engine serves both."""
SOURCES = [
    {"name": "add_sub", "dataset": "gsm8k-add-sub@1", "weight": 0.5},
    {"name": "mul", "dataset": "gsm8k-mul@1", "weight": 0.5},
]
EVALUATION = {
    "every_steps": 2,
    "max_prompts": 2,
    "temperature": 0.7,
    "thinking_budget": 8,
    "sources": [{"name": "add_sub", "dataset": "gsm8k-eval@1"}],
}
COLUMNS = {
    "solution": "think of tens and ones",
    "strategies": ["Begin with the tens.", "Begin with the ones."],
    "tokens": 12,
    "demonstration": "<think>1</think>2",
}
"""Columns that the demo's rows lack and these runs read."""

COMBINATIONS: dict[str, dict[str, Any]] = {
    "sync": {
        "data": {"sources": SOURCES},
        "reward": {
            "definition": "calculation-format@1",
            "on_error": "zero",
            "max_error_share": 0.9,
            "length": {"type": "grpo_lambda", "share": 0.5, "min_pass_rate": 0.0, "alpha": 0.2},
        },
        "rollout": {
            "group_size": 4,
            "max_tokens": 24,
            "top_p": 0.95,
            "top_k": 32,
            "kv_on_update": "recompute",
            "weight_transport": "object_store",
            "engine": ENGINE,
        },
        "curriculum": {
            "type": "difficulty_target",
            "target_pass_rate": 0.5,
            "temperature": 0.2,
            "decay": 0.5,
            "explore": 0.5,
            "start_from_notes": True,
            "shape": "beta",
            "alpha": 1.0,
            "beta": 2.0,
            "predict": True,
        },
        "prompting": {
            "hints": {
                "column": "solution",
                "target_pass_rate": 0.6,
                "first_share": 0.2,
                "max_share": 0.5,
                "slope": 4.0,
                "memory": 2,
                "text": " {hint}",
            },
            "nudges": {
                "source": {"type": "column", "column": "strategies"},
                "per_group": 2,
                "dropout": 0.5,
                "text": " {strategy}",
            },
        },
        "batching": {
            "allocation": {"type": "dars", "schedule": "hardness_weighted", "max_samples": 6, "decay": 0.5},
        },
        "advantage": {
            "type": "reinforce_pp_baseline",
            "weighting": "tokens",
            "std": "population",
            "epsilon": 1e-6,
        },
        "loss": {"type": "ppo_clip", "ratio_min": 0.8, "ratio_max": 1.28, "ratio_dual": 3.0},
        "proximal": {"type": "snapshot", "every_steps": 2},
        "corrections": [
            {"type": "masked_is", "level": "token", "ratio_max": 4.0},
            {"type": "opsm", "divergence_max": 0.5},
        ],
        "filters": [
            {"type": "length_outliers", "deviations": 1.0, "margin": 1, "success": 1.0, "reward": 0.0},
            {"type": "overlong", "max_tokens": 23},
            {"type": "recomposition", "share": 0.5, "compensation_every": 2, "success": 0.5},
        ],
        "optimizer": {
            "learning_rate": 1e-4,
            "schedule": "cosine",
            "moment_bits": 8,
            "ess_scaling": "sqrt",
            "ess_base": 0.9,
        },
        "parallelism": {"share_prompts": False, "batch_invariant": False},
        "schedule": {"updates_per_step": 2, "epochs": 2, "seed": 3},
        "guards": [
            {"type": "metric_bound", "metric": "actor/grad_norm", "action": "alert", "min": -1.0, "max": 1e6},
            {
                "type": "metric_change",
                "metric": "actor/entropy",
                "action": "alert",
                "max_rise": 99.0,
                "max_fall": 99.0,
                "window": 2,
                "for_steps": 1,
            },
            {
                "type": "metric_stuck",
                "metric": "critic/score/mean",
                "action": "alert",
                "tolerance": 0.0,
                "for_steps": 9,
            },
        ],
        "diagnosis": {"every_steps": 1, "trajectories": 2, "max_tokens": 64},
        "checkpoint": {"every_steps": 2, "keep_last": 1, "before_control": False},
    },
    "async": {
        "data": {
            "sources": SOURCES,
            "sft": {"type": "demonstrations", "column": "demonstration", "coefficient": 0.1},
        },
        "reward": {
            "definition": "calculation@1",
            "length": {
                "type": "difficulty_aware",
                "buffer": 6,
                "factor": 0.5,
                "gamma": 1.0,
                "failure_scale": 0.5,
            },
        },
        "rollout": {
            "group_size": 4,
            "max_tokens": 24,
            "mode": {"type": "async", "max_staleness": 1},
            "engine": ENGINE,
        },
        "length_window": {
            "type": "staged",
            "stages": [16, 24],
            "near": 0.5,
            "settle_steps": 1,
            "perplexity_tolerance": 0.5,
        },
        "curriculum": {
            "type": "adaptive_ratio",
            "count": "informative",
            "min_groups": 2,
            "gain": 1.0,
            "min_adjustment": 0.5,
            "max_adjustment": 2.0,
            "horizon": 16,
        },
        "batching": {
            "allocation": {"type": "uncertainty", "min_samples": 2, "max_samples": 6, "bonus": 0.1, "decay": 0.5},
            "replay": {"per_step": 1, "capacity": 4, "max_age": 4, "uses": 2},
        },
        "advantage": {"type": "opo", "whiten": "batch"},
        "loss": {"type": "cispo"},
        "proximal": {"type": "ewma", "decay": 0.8},
        "corrections": [{"type": "truncated_is", "ratio_max": 2.0}],
        "filters": [{"type": "zero_advantage", "tolerance": 0.0}, {"type": "high_entropy", "share": 0.8}],
        "schedule": {"updates_per_step": 2},
    },
    "in_flight": {
        "data": {
            "sources": [{**source, "format": {"control_tokens": "text", "effort": "low"}} for source in SOURCES],
        },
        "reward": {"definition": "calculation@1", "length": {"type": "decoupled", "temperature": 0.5}},
        "rollout": {
            "group_size": 4,
            "max_tokens": 24,
            "mode": {"type": "in_flight", "max_staleness": 2},
            "engine": ENGINE,
        },
        "thinking": {
            "type": "tags",
            "forced_end": "</think>",
            "prompt_budget": {"type": "column", "column": "tokens", "tell": None},
        },
        "length_window": {"type": "cyclic", "shape": "stairs", "min": 16, "max": 24, "period": 4, "stairs": 2},
        "curriculum": {
            "type": "difficulty_band",
            "min_pass_rate": 0.0,
            "max_pass_rate": 1.0,
            "decay": 0.5,
            "explore": 0.1,
        },
        "batching": {
            "allocation": {"type": "knapsack", "min_samples": 2, "max_samples": 6, "predict": True, "decay": 0.5},
        },
        "advantage": {"type": "pass_k", "whiten": "none", "k": 2, "success": 1.0, "epsilon": 1e-6},
        "proximal": {"type": "interpolated"},
        "corrections": [],
        "filters": [
            {"type": "repetition", "max_period": 4, "min_repeats": 4},
            {"type": "mastered_tokens", "probability": 0.999, "target_entropy": 0.1, "success": 1.0},
        ],
        "schedule": {"updates_per_step": 2},
    },
    "critic": {
        "data": {"sources": SOURCES},
        "reward": {"definition": "calculation-format@1", "length": {"type": "kimi", "weight": 0.5}},
        "rollout": {
            "group_size": 4,
            "max_tokens": 24,
            "partial": {"over_provision": 1.5, "max_continuations": 1, "token_budget": 400},
            "engine": ENGINE,
        },
        "advantage": {"type": "gae", "truncated_end": "bootstrap"},
        "critic": {"type": "head", "warmup_steps": 1},
        "loss": {
            "type": "ppo_clip",
            "smoothing": {"k": 3, "alpha": 0.01, "quantile": 0.8, "penalty": 1.1},
        },
        "corrections": [{"type": "geometric_mask", "ratio_min": 0.5, "ratio_max": 2.0}],
        "entropy": {"type": "adaptive", "target": 0.5, "start": 0.01, "change": 0.005, "weight_max": 0.1},
        "evaluation": {**EVALUATION, "samples_per_prompt": 4, "pass_at": [1, 2]},
        "filters": [],
        "schedule": {"updates_per_step": 2},
    },
    "masked": {
        "data": {"sources": SOURCES},
        "rollout": {"group_size": 4, "max_tokens": 24, "engine": ENGINE},
        "advantage": {
            "type": "vine",
            "branches": 2,
            "steps": {"type": "text", "separator": ">"},
            "max_states": 2,
        },
        "entropy": {"type": "fixed", "coefficient": 0.001},
        "loss": {"type": "sequence_mask", "ratio_min": 0.1, "ratio_max": 10.0, "divergence_max": 1.0},
        "corrections": [],
        "filters": [],
    },
}


def document(name: str) -> dict[str, Any]:
    """The combination as a spec of two small steps on the starter policy and the demo's data."""
    parts = _written(name)
    parts["parallelism"] = {"max_tokens_per_microbatch": 4096, **parts.get("parallelism", {})}
    return RunSpec.model_validate({"optimizer": {"learning_rate": 1e-4}, **parts}).model_dump(mode="json")


def specs() -> list[RunSpec]:
    """Every combination as it is written, its defaults not filled in."""
    return [RunSpec.model_validate(_written(name)) for name in COMBINATIONS]


def _written(name: str) -> dict[str, Any]:
    """The combination with what a spec needs to be valid by itself."""
    chosen = COMBINATIONS[name]
    return {
        "policy": {"base": "starter"},
        "reward": {"definition": "calculation@1"},
        "evaluation": EVALUATION,
        **chosen,
        "thinking": {"type": "tags", **chosen.get("thinking", {})},
        "schedule": {"steps": 2, "prompts_per_step": 4, **chosen.get("schedule", {})},
    }
