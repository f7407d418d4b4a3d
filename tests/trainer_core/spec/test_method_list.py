"""Every published method by its name: the spec that asks for it, and that no member of a union is without a name."""

from typing import Any, get_args

import pytest

from tests.trainer_core.specs import document
from trainer_core.spec import RunSpec
from trainer_core.spec.data.curriculum import Curriculum
from trainer_core.spec.generation.length_window import LengthWindow
from trainer_core.spec.methods.advantage import Advantage
from trainer_core.spec.methods.aggregation import Aggregation
from trainer_core.spec.methods.corrections import Correction
from trainer_core.spec.methods.critic import Critic
from trainer_core.spec.methods.filters import Filter
from trainer_core.spec.methods.loss import Loss
from trainer_core.spec.methods.proximal import Proximal
from trainer_core.spec.rewards.length_shaping import LengthShaping

SEVERAL = {"updates_per_step": 2}
TAGS = {"type": "tags"}
ASYNC = {"mode": {"type": "async", "max_staleness": 2}}
SOURCES = document()["data"]["sources"]


def advantage(kind: str, **parts: Any) -> dict[str, Any]:
    return {"advantage": {"type": kind, **parts}}


def loss(kind: str, **parts: Any) -> dict[str, Any]:
    weighted = ("dppo", "decoupled_ppo", "minpro", "vespo", "sequence_mask")
    return {"loss": {"type": kind, **parts}, **({"corrections": []} if kind in weighted else {})}


def correction(kind: str, **parts: Any) -> dict[str, Any]:
    return {"corrections": [{"type": kind, **parts}], "schedule": SEVERAL}


def chosen(kind: str, **parts: Any) -> dict[str, Any]:
    return {"filters": [{"type": kind, **parts}]}


def length(kind: str, **parts: Any) -> dict[str, Any]:
    return {"reward": {"definition": "r@1", "length": {"type": kind, **parts}}}


def data(**parts: Any) -> dict[str, Any]:
    return {"data": {"sources": SOURCES, **parts}}


TOLD = {"target": {"type": "sampled", "min": 4, "max": 100, "tell": " {tokens}"}}
NAMES: dict[str, dict[str, Any]] = {
    # advantages
    "REINFORCE with batch baseline": advantage("reinforce"),
    "GRPO": advantage("grpo"),
    "Dr.GRPO": {**advantage("dr_grpo"), "aggregation": {"type": "constant"}},
    "RLOO": advantage("rloo"),
    "REINFORCE++": advantage("reinforce_pp"),
    "REINFORCE++ with group baseline": advantage("reinforce_pp_baseline"),
    "PPO with GAE, value head, value clipping, value warm-up": {
        **advantage("gae"),
        "critic": {"type": "head", "clip_range": 0.2, "warmup_steps": 5},
    },
    "PPO with GAE, separate critic": {**advantage("gae"), "critic": {"type": "separate"}},
    "VinePPO": advantage("vine"),
    "MC-GRPO": {**advantage("mc_grpo"), "rollout": {"group_size": 5}},
    "GDPO": advantage("gdpo"),
    "MaxRL": advantage("maxrl"),
    "OPO": advantage("opo"),
    "pass@k": advantage("pass_k", k=4),
    "Magistral advantage": advantage("magistral"),
    "VCPO baseline": advantage("vcpo"),
    "batch whitening": advantage("rloo", whiten="batch"),
    # losses
    "REINFORCE": loss("reinforce"),
    "PPO clip with dual clip": loss("ppo_clip", ratio_min=0.8, ratio_max=1.2, ratio_dual=3.0),
    "DAPO clip-higher": loss("ppo_clip", ratio_min=0.8, ratio_max=1.28),
    "CISPO": loss("cispo"),
    "GSPO": {**loss("gspo"), "corrections": []},
    "GSPO, token form": {**loss("gspo", level="token"), "corrections": []},
    "SAPO": loss("sapo"),
    "DPPO, binary TV": loss("dppo", divergence="tv"),
    "DPPO, binary KL": loss("dppo", divergence="kl", divergence_max=0.05),
    "DPPO, top-k TV": loss("dppo", approximation="top_k", divergence="tv"),
    "DPPO, top-k KL": loss("dppo", approximation="top_k", divergence="kl", divergence_max=0.05),
    "decoupled PPO": loss("decoupled_ppo"),
    "MinPRO": loss("minpro"),
    "VESPO": loss("vespo"),
    "sequence-masked policy optimisation": loss("sequence_mask"),
    "SimKO": loss("ppo_clip", smoothing={}),
    "TRPO-style KL-penalised surrogate": loss("kl_penalised"),
    "on-policy distillation, full": {"distillation": {"teacher": "t", "distribution": "full"}},
    "on-policy distillation, k-sparse": {"distillation": {"teacher": "t", "distribution": "sparse", "k": 8}},
    "PACED": {"distillation": {"teacher": "t", "weighting": {"type": "paced"}}},
    "SCOPE": {"distillation": {"teacher": "t", "weighting": {"type": "scope"}, "alone": True}, "filters": []},
    "SFT term, demonstrations": data(sft={"type": "demonstrations"}),
    "SFT term, positives": data(sft={"type": "positives"}),
    # corrections
    "truncated IS, token": correction("truncated_is", level="token"),
    "truncated IS, sequence": correction("truncated_is", level="sequence"),
    "masked IS": correction("masked_is"),
    "IcePop band": correction("icepop"),
    "off-policy sequence masking": correction("opsm"),
    "sequence mask by geometric mean": correction("geometric_mask"),
    "A-3PO": {"proximal": {"type": "interpolated"}},
    "PPO-EWMA": {"proximal": {"type": "ewma"}},
    "proximal snapshot": {"proximal": {"type": "snapshot"}},
    "PPO with its own clip": {
        "proximal": {"type": "sampler"},
        "corrections": [],
        "schedule": {"updates_per_step": 2, "epochs": 2},
    },
    "recomputed proximal": {"proximal": {"type": "recompute"}},
    "router-shift weighting": correction("router_shift"),
    "ESS-scaled learning rate": {"optimizer": {"ess_scaling": "sqrt"}},
    "entropy bonus, fixed": {"entropy": {"type": "fixed"}},
    "entropy bonus, adaptive": {"entropy": {"type": "adaptive"}},
    # KL and aggregation
    **{
        f"KL {estimator} in the {placement}": {
            "kl": {"estimator": estimator, "placement": placement, "coefficient": 0.01, "reset_steps": 50}
        }
        for estimator in ("k1", "k2", "k3", "absolute")
        for placement in ("loss", "reward")
    },
    **{
        name: {"aggregation": {"type": name}}
        for name in ("token_mean", "sequence_mean", "prompt_mean", "constant", "sample_and_token")
    },
    # filters
    "zero-advantage groups": chosen("zero_advantage"),
    "overlong": chosen("overlong", max_tokens=64),
    "repetition": chosen("repetition"),
    "truncated": chosen("truncated"),
    "high-entropy tokens": chosen("high_entropy"),
    "mastered-positive-token masking": chosen("mastered_tokens"),
    "fully-correct length outliers": chosen("length_outliers"),
    "priority and compensation": chosen("recomposition"),
    # length and thinking
    "DAPO soft overlong": {"reward": {"definition": "r@1", "overlong": {"buffer": 16}}},
    "Magistral length": length("magistral", buffer=16),
    "L1 exact": length("l1_exact", **TOLD),
    "L1 maximum": length("l1_max", **TOLD),
    "GRPO-λ": length("grpo_lambda"),
    "difficulty-aware penalty": length("difficulty_aware", buffer=16),
    "Kimi length reward": length("kimi"),
    "decoupled length reward": length("decoupled"),
    "thinking budget, hard": {"thinking": {**TAGS, "budget": 32}},
    "thinking budget, per prompt": {"thinking": {**TAGS, "prompt_budget": {"type": "column"}}},
    "thinking budget, sampled and told": {
        "thinking": {**TAGS, "prompt_budget": {"type": "sampled", "min": 8, "max": 64, "tell": " {tokens}"}}
    },
    "interruption phrases": {"thinking": {**TAGS, "budget": 32, "interruptions": ["Enough.</think>"]}},
    "fixed window": {"length_window": {"type": "fixed"}},
    "staged length windows": {"length_window": {"type": "staged", "stages": [32, 64, 128]}},
    "compression and expansion": {"length_window": {"type": "cyclic", "min": 32, "max": 128}},
    # curriculum and sampling
    "uniform": {"curriculum": {"type": "uniform"}},
    "weighted sources": data(),
    "adaptive domain ratio": {"curriculum": {"type": "adaptive_ratio"}},
    "difficulty band": {"curriculum": {"type": "difficulty_band"}},
    "goldilocks": {"curriculum": {"type": "goldilocks"}},
    "difficulty-targeted selection": {"curriculum": {"type": "difficulty_target"}},
    "PACED as a choice of prompts": {"curriculum": {"type": "difficulty_target", "shape": "beta"}},
    "predicted pass rates, DOTS": {"curriculum": {"type": "difficulty_target", "predict": True}},
    "value-informed allocation, V0": {"batching": {"allocation": {"type": "knapsack"}}},
    "adaptive group size, DARS": {"batching": {"allocation": {"type": "dars"}}},
    "adaptive group size, XRPO": {"batching": {"allocation": {"type": "uncertainty"}}},
    "mixing schedule": data(transition={"start": 1, "end": 50, "sources": [{"name": "sums", "weight": 2.0}]}),
    "dynamic sampling": {"rollout": {"dynamic_sampling": {"enabled": True}}},
    "active sampling": {"rollout": {**ASYNC, "dynamic_sampling": {"enabled": True}}},
    "over-sampling": {"rollout": {"partial": {"over_provision": 1.5}}},
    "C3PO++'s token budget": {"rollout": {"partial": {"over_provision": 1.5, "token_budget": 4096}}},
    "rollout replay": {"batching": {"replay": {}}},
    "hint scaffolding": {"prompting": {"hints": {}}},
    "strategy nudges": {"prompting": {"nudges": {"source": {"type": "listed", "strategies": ["a", "b"]}}}},
}


@pytest.mark.parametrize("name", NAMES)
def test_it_can_be_asked_for(name: str) -> None:
    asked = RunSpec.model_validate(document(**NAMES[name]))
    assert RunSpec.model_validate(asked.model_dump(mode="json")) == asked


ROOMS = {
    "advantage": Advantage,
    "loss": Loss,
    "corrections": Correction,
    "proximal": Proximal,
    "aggregation": Aggregation,
    "filters": Filter,
    "critic": Critic,
    "curriculum": Curriculum,
    "length_window": LengthWindow,
}


def members(union: Any) -> set[str]:
    first = get_args(union)[0]
    return {str(model.model_fields["type"].default) for model in get_args(first) or (first,)}


def asked_in(room: str) -> set[str]:
    parts = [part[room] for part in NAMES.values() if room in part]
    flat = [one for part in parts for one in (part if isinstance(part, list) else [part])]
    return {one["type"] for one in flat}


@pytest.mark.parametrize("room", ROOMS)
def test_every_method_of_a_room_has_a_name_here(room: str) -> None:
    assert asked_in(room) == members(ROOMS[room])


def test_every_length_shaping_has_a_name_here() -> None:
    named = {part["reward"]["length"]["type"] for part in NAMES.values() if "length" in part.get("reward", {})}
    assert named == members(LengthShaping)
