"""Every rule between the parts of a run spec: what is refused, where, and in which words."""

from typing import Any

import pytest
from pydantic import ValidationError

from tests.trainer_core.specs import document, spec, weighted
from trainer_core.rewards import RewardDefinition
from trainer_core.spec import RunSpec
from trainer_core.spec.generation.length_window import StagedWindow
from trainer_core.spec.methods.advantage.gdpo import GDPOAdvantage

TAGS = {"type": "tags"}
SHARED = {"learner_ranks": 2, "context_parallel_size": 2}
ENVIRONMENT = {"type": "python", "source": "def respond(item, messages):\n    return None"}
HELD_OUT = {"name": "held_out", "dataset": "held@1"}

CONTRADICTIONS = {
    "source named twice": (
        {"data": {"sources": [{"name": "a", "dataset": "a@1"}, {"name": "a", "dataset": "b@1"}]}},
        ("data", "sources", 1, "name"),
        "the source name 'a' is used twice",
    ),
    "no weight": ({"data": weighted(a=0.0, b=0.0)}, ("data", "sources"), "at least one source needs a weight above"),
    "another policy as a reference that is reset": (
        {"kl": {"coefficient": 0.1, "reference": "other", "reset_steps": 5}},
        ("kl", "reset_steps"),
        "a reset puts the policy's weights into the reference, which is another policy",
    ),
    "held-out source named twice": (
        {"evaluation": {"sources": [HELD_OUT, {**HELD_OUT, "dataset": "other@1"}]}},
        ("evaluation", "sources", 1, "name"),
        "the source name 'held_out' is used twice",
    ),
    "evaluation on training data": (
        {"evaluation": {"sources": [{"name": "held_out", "dataset": "sums@1"}]}},
        ("evaluation", "sources", 0, "dataset"),
        "sums@1 is trained on as well",
    ),
    "no room for a prompt": (
        {"rollout": {"max_tokens": 512}},
        ("rollout", "max_tokens"),
        r"max_tokens \(512\) leaves no room for a prompt in max_model_len \(512\)",
    ),
    "overlong buffer too long": (
        {"reward": {"definition": "r@1", "overlong": {"buffer": 128}}},
        ("reward", "overlong", "buffer"),
        r"the overlong buffer \(128\) must be shorter than max_tokens \(128\)",
    ),
    "an environment for vine": (
        {"rollout": {"environment": ENVIRONMENT}, "advantage": {"type": "vine"}},
        ("advantage",),
        "without the environment's answers",
    ),
    "an environment for pruning": (
        {"rollout": {"environment": ENVIRONMENT, "early_stop": {"prune": {"after": 8}}}},
        ("rollout", "early_stop", "prune"),
        "compares completions of one turn",
    ),
    "microbatch too small": (
        {"parallelism": {"max_tokens_per_microbatch": 511}},
        ("parallelism", "max_tokens_per_microbatch"),
        r"a trajectory of max_model_len \(512\) tokens does not fit",
    ),
    "evaluation budget without thinking": (
        {"evaluation": {"sources": [HELD_OUT], "thinking_budget": 5}},
        ("evaluation", "thinking_budget"),
        "a thinking budget needs a thinking policy",
    ),
    "equal tags": (
        {"thinking": {**TAGS, "start": "|", "end": "|"}},
        ("thinking", "end"),
        "the tags that open and close the thinking must differ",
    ),
    "forced end without the closing tag": (
        {"thinking": {**TAGS, "forced_end": "enough"}},
        ("thinking", "forced_end"),
        "the forced end must end with the closing tag '</think>'",
    ),
    "forced end that closes nothing": (
        {"thinking": {**TAGS, "answer_start": "Answer:", "forced_end": "so Answer:"}},
        ("thinking", "forced_end"),
        "the forced end must contain '</think>' and end with 'Answer:'",
    ),
    "budget that never bites": (
        {"thinking": {**TAGS, "budget": 128}},
        ("thinking", "budget"),
        "a budget of 128 never applies: max_tokens is 128",
    ),
    "group of one": (
        {"rollout": {"group_size": 1}},
        ("rollout", "group_size"),
        "grpo compares the samples of a group: it needs at least 2",
    ),
    "unequal minibatches": (
        {"schedule": {"prompts_per_step": 32, "updates_per_step": 3}},
        ("schedule", "updates_per_step"),
        "32 prompts cannot be split into 3 equal parts",
    ),
    "idle ranks": (
        {"schedule": {"prompts_per_step": 2, "updates_per_step": 2}, "parallelism": {"learner_ranks": 9}},
        ("parallelism", "learner_ranks"),
        "a minibatch of 8 trajectories cannot feed 9 ranks",
    ),
    "idle groups of ranks": (
        {
            "schedule": {"prompts_per_step": 2, "updates_per_step": 2},
            "parallelism": {"learner_ranks": 36, "context_parallel_size": 4},
        },
        ("parallelism", "learner_ranks"),
        "a minibatch of 8 trajectories cannot feed 9 groups of ranks",
    ),
    "ranks that cannot be cut into groups": (
        {"parallelism": {"learner_ranks": 6, "context_parallel_size": 4}},
        ("parallelism", "context_parallel_size"),
        "6 learner ranks cannot be split into groups of 4: choose one of 1, 2, 3, 6",
    ),
    "shared tokens over as many nodes as can be": (
        {"parallelism": {**SHARED, "learner_placement": "spread"}},
        ("parallelism", "learner_placement"),
        "exchange tokens in every layer, and spread puts them on as many nodes as possible: set "
        "parallelism.learner_placement to pack, or set parallelism.context_parallel_size to 1",
    ),
    "invariance to the batch over shared tokens": (
        {"parallelism": {**SHARED, "batch_invariant": True}},
        ("parallelism", "batch_invariant"),
        "round differently: set parallelism.batch_invariant to false, or set parallelism.context_parallel_size to 1",
    ),
    "half precision over shared tokens": (
        {"parallelism": SHARED, "precision": {"type": "half"}},
        ("precision",),
        "precision.type = half is untested with context parallelism: choose precision.type = float32, or",
    ),
    "FP8 over shared tokens": (
        {"parallelism": SHARED, "rollout": {"engine": {"dtype": "bfloat16", "quantization": {}}}},
        ("rollout", "engine", "quantization"),
        "the learner's simulated FP8 is untested with context parallelism",
    ),
    "offloaded moments over shared tokens": (
        {"parallelism": {**SHARED, "zero_stage": 2}, "optimizer": {"offload": True}},
        ("optimizer", "offload"),
        "optimizer.offload is untested with context parallelism: set optimizer.offload to false, or",
    ),
    "offloaded activations over shared tokens": (
        {"parallelism": SHARED, "policy": {"base": "starter", "activation_offload": True}},
        ("policy", "activation_offload"),
        "set policy.activation_offload to false, or set parallelism.context_parallel_size to 1",
    ),
    "microbatch too small for groups of ranks": (
        {"parallelism": {**SHARED, "max_tokens_per_microbatch": 255}},
        ("parallelism", "max_tokens_per_microbatch"),
        r"a trajectory of max_model_len \(512\) tokens does not fit",
    ),
    "endless warm-up": (
        {"schedule": {"steps": 10}, "optimizer": {"warmup_steps": 10}},
        ("optimizer", "warmup_steps"),
        "the warm-up is as long as the run",
    ),
    "guard on nothing": (
        {"guards": [{"metric": "rollout_corr/lk", "max": 1.0}]},
        ("guards", 0, "metric"),
        "no metric is called 'rollout_corr/lk'",
    ),
    "guard on a placeholder": (
        {"guards": [{"metric": "train/pass_rate/<source>", "max": 1.0}]},
        ("guards", 0, "metric"),
        "no metric is called",
    ),
    "guard on another source": (
        {"guards": [{"metric": "actor/entropy", "min": 0.1}, {"metric": "train/pass_rate/minus", "max": 1.0}]},
        ("guards", 1, "metric"),
        "never reported: there is no such source",
    ),
    "shadow named twice": (
        {"reward": {"definition": "r@1", "shadow": ["r@2", "r@2"]}},
        ("reward", "shadow", 1),
        "r@2 is already a shadow",
    ),
    "contrasts within a group of one": (
        {
            "reward": {"definition": "r@1", "evolve": {"component": "style"}},
            "rollout": {"group_size": 1},
            "advantage": {"type": "reinforce"},
        },
        ("reward", "evolve"),
        "a group needs at least two",
    ),
    "more contrasts than prompts": (
        {
            "reward": {"definition": "r@1", "evolve": {"component": "style", "prompts_per_step": 9}},
            "schedule": {"prompts_per_step": 8},
        },
        ("reward", "evolve", "prompts_per_step"),
        "a step has 8 prompts: 9 cannot be contrasted",
    ),
    "guard on a source that is not evaluated": (
        {"guards": [{"metric": "eval/sums/score/mean", "min": 0.1}]},
        ("guards", 0, "metric"),
        "never reported: there is no such source",
    ),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_a_contradiction_is_refused_at_its_field(name: str) -> None:
    parts, path, message = CONTRADICTIONS[name]
    with pytest.raises(ValidationError, match=message) as refused:
        spec(**parts)
    assert [error["loc"] for error in refused.value.errors()] == [path]


def test_all_contradictions_are_told_at_once() -> None:
    with pytest.raises(ValidationError) as refused:
        spec(rollout={"group_size": 1, "max_tokens": 600}, data=weighted(a=0.0))
    assert {error["loc"] for error in refused.value.errors()} == {
        ("data", "sources"),
        ("rollout", "max_tokens"),
        ("rollout", "group_size"),
    }


def test_braces_in_names_are_no_placeholders() -> None:
    with pytest.raises(ValidationError, match=r"closing tag '\{end\}'"):
        spec(thinking={**TAGS, "end": "{end}", "forced_end": "{x}"})


INSIDE: dict[str, tuple[dict[str, Any], str]] = {
    "band": ({"curriculum": {"type": "difficulty_band", "min_pass_rate": 0.9, "max_pass_rate": 0.1}}, "must not be"),
    "dual clip": ({"loss": {"type": "ppo_clip", "ratio_max": 4.0, "ratio_dual": 3.0}}, "must be above ratio_max"),
    "lower ratio bound": ({"loss": {"type": "ppo_clip", "ratio_min": 1.1}}, "less than or equal to 1"),
    "upper ratio bound as an epsilon": (
        {"loss": {"type": "ppo_clip", "ratio_max": 0.28}},
        "greater than or equal to 1",
    ),
    "guard without bounds": ({"guards": [{"metric": "actor/entropy"}]}, "a lower or an upper bound"),
    "guard with crossed bounds": ({"guards": [{"metric": "actor/entropy", "min": 2, "max": 1}]}, "must not be above"),
    "unknown key": ({"optimizer": {"lr": 1e-3}}, "Extra inputs are not permitted"),
    "unknown member": ({"advantage": {"type": "quadratic"}}, "'grpo', 'dr_grpo'"),
    "shadow without version": ({"reward": {"definition": "r@1", "shadow": ["r"]}}, "pattern"),
    "an environment that is no program": (
        {"rollout": {"environment": {"type": "python", "source": "def respond("}}},
        "not a Python program",
    ),
    "five shadows": ({"reward": {"definition": "r@1", "shadow": [f"r@{n}" for n in range(5)]}}, "at most 4 items"),
    "length bias of nothing": ({"reward": {"definition": "r@1", "length_bias": {}}}, "Field required"),
    "not a number": ({"optimizer": {"learning_rate": float("nan")}}, "finite|greater"),
    "dataset without version": ({"data": {"sources": [{"name": "a", "dataset": "a"}]}}, "pattern"),
    "no sources": ({"data": {"sources": []}}, "at least 1 item"),
}


@pytest.mark.parametrize("name", INSIDE)
def test_a_part_that_makes_no_sense_is_refused(name: str) -> None:
    parts, message = INSIDE[name]
    with pytest.raises(ValidationError, match=message):
        spec(**parts)


def test_what_lies_on_the_edge_is_accepted() -> None:
    spec(
        rollout={"group_size": 2, "max_tokens": 100},
        thinking={**TAGS, "budget": 99, "forced_end": "enough</think>"},
        reward={"definition": "r@1", "overlong": {"buffer": 99}},
        parallelism={"max_tokens_per_microbatch": 512, "learner_ranks": 2},
        schedule={"steps": 10, "prompts_per_step": 1},
        optimizer={"warmup_steps": 9},
        evaluation={"sources": [HELD_OUT], "thinking_budget": 0},
        guards=[{"metric": "eval/held_out/pass_rate", "min": 0.1}, {"metric": "train/pass_rate/sums", "max": 0.9}],
        data=weighted(sums=1.0, off=0.0),
    )


def test_ranks_that_share_tokens_out_hold_more_of_them_and_need_fewer_trajectories() -> None:
    spec(
        rollout={"group_size": 2, "max_tokens": 100},
        schedule={"steps": 10, "prompts_per_step": 1},
        parallelism={"max_tokens_per_microbatch": 256, "learner_ranks": 4, "context_parallel_size": 2},
    )


def test_a_spec_survives_json() -> None:
    whole = spec(thinking=TAGS, curriculum={"type": "difficulty_band"}, rollout={"mode": {"type": "async"}})
    assert RunSpec.model_validate_json(whole.model_dump_json()) == whole
    assert RunSpec.model_validate(whole.model_dump(mode="json")) == whole
    assert RunSpec.model_validate(document()) == spec()


@pytest.mark.parametrize("value", [True, False])
def test_a_boolean_is_no_number(value: bool) -> None:
    """Python would count it as 1 or 0."""
    with pytest.raises(ValidationError, match=f"valid number.*input_value='{str(value).lower()}'"):
        spec(optimizer={"learning_rate": value})
    component = {"name": "a", "weight": value, "grader": {"type": "math"}}
    with pytest.raises(ValidationError, match=f"valid number.*input_value='{str(value).lower()}'"):
        RewardDefinition.model_validate({"components": [component]})


def test_a_boolean_is_no_number_in_a_list_nor_by_name() -> None:
    with pytest.raises(ValidationError, match=r"valid integer.*input_value='true'"):
        StagedWindow.model_validate({"stages": [True, 64]})
    with pytest.raises(ValidationError, match=r"valid number.*input_value='false'"):
        GDPOAdvantage.model_validate({"weights": {"format": False}})
    assert StagedWindow.model_validate({"stages": (32, 64)}).stages == (32, 64)
