"""Whole runs that learn from rows: supervised and by preference, resumed, steered, and refused."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.about import TRAINING
from tests.worker.loop.conftest import rows
from tests.worker.loop.platform_double import PlatformDouble

SFT = {"type": "sft", "max_tokens": 64, "completion": "completion", "learn": "completion", "overlong": "drop"}


def examples_spec(objective: dict[str, Any], **sections: Any) -> dict[str, Any]:
    return {
        "policy": {"base": "starter"},
        "data": {"sources": [{"name": "add", "dataset": "add@1"}, {"name": "mul", "dataset": "mul@1", "weight": 0.5}]},
        "objective": objective,
        "optimizer": {"learning_rate": 1e-3},
        "parallelism": {"max_tokens_per_microbatch": 2048},
        "schedule": {"steps": 6, "prompts_per_step": 8},
        "checkpoint": {"every_steps": 2},
        "evaluation": {"every_steps": 3, "max_prompts": 8, "sources": [{"name": "held_out", "dataset": "eval@1"}]},
        **sections,
    }


def prepare(launcher: Any, platform: PlatformDouble, spec: dict[str, Any], change: Callable[..., Any]) -> None:
    """As the platform hands out a run that learns from rows: no reward, rows with what ``change`` adds to them."""
    launcher.prepare(spec, reward=None)
    platform.bundle["datasets"] = {
        name: platform.add_dataset(name, [change(row) for row in rows(file, count)])
        for name, file, count in (
            ("add@1", "gsm8k-add-sub", 64),
            ("mul@1", "gsm8k-mul", 32),
            ("eval@1", "gsm8k-eval", 16),
        )
    }


def with_completion(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "completion": row["answer"]}


def with_pair(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "chosen": row["answer"], "rejected": f"{row['answer']}0"}


def metric(platform: PlatformDouble, name: str) -> list[float | None]:
    """Values of a metric, step by step."""
    return [event["data"]["metrics"].get(name) for event in platform.of("step")]


def evaluated(platform: PlatformDouble, name: str) -> list[float]:
    return [event["data"]["metrics"][name] for event in platform.of("eval")]


def history(platform: PlatformDouble, first: int) -> list[Any]:
    """What was learned from step ``first`` on, to the last digit."""
    names = ("sft/loss", "sft/loss/add", "actor/grad_norm", "actor/lr", "examples/epoch", "train/mix/mul")
    found = [event for event in platform.of("step") if event["step"] >= first]
    steps = [
        (e["step"], e["data"]["tokens_total"], e["data"]["ledger"], [e["data"]["metrics"].get(name) for name in names])
        for e in found
    ]
    return [steps, [event["data"] for event in platform.of("eval") if event["step"] >= first]]


CONTROLS = [
    {"id": "lr", "type": "control", "revision": 1, "target": "optimizer.learning_rate", "value": 5e-4, "apply_at": 3},
    {"id": "mix", "type": "control", "revision": 2, "target": "data.sources.mul.weight", "value": 4.0, "apply_at": 4},
    {"id": "bad", "type": "control", "revision": 3, "target": "rollout.temperature", "value": 0.5, "apply_at": "next"},
]


@pytest.mark.live
@pytest.mark.expensive(40, "starts a run twice with processes of its own", about=TRAINING)
def test_resumed_equals_uninterrupted(launcher: Any, platform: PlatformDouble) -> None:
    prepare(launcher, platform, examples_spec(SFT), with_completion)
    platform.commands = list(CONTROLS)
    assert launcher.start() is True
    platform.wait(lambda: platform.states()[-1:] == ["succeeded"])
    assert platform.states() == ["starting", "running", "succeeded"]
    assert platform.steps() == [1, 2, 3, 4, 5, 6]
    assert [event["step"] for event in platform.of("eval")] == [0, 3, 6]
    assert metric(platform, "training/policy_version") == [1, 2, 3, 4, 5, 6]
    assert metric(platform, "control/revision") == [0, 0, 1, 2, 2, 2]
    assert metric(platform, "actor/lr") == [1e-3, 1e-3, 5e-4, 5e-4, 5e-4, 5e-4]
    reports = {(one["control_id"], one["state"]): one["step"] for one in platform.applied}
    assert reports == {
        ("bad", "rejected"): 1,
        ("lr", "applied"): 3,
        ("lr", "settled"): 3,
        ("mix", "applied"): 4,
        ("mix", "settled"): 4,
    }
    saved = [(e["step"], e["data"]["reason"], e["data"]["control_id"]) for e in platform.of("checkpoint")]
    assert saved == [
        (2, "schedule", None),
        (2, "before_control", "lr"),
        (3, "before_control", "mix"),
        (4, "schedule", None),
        (6, "final", None),
    ]
    assert not platform.gaps and not platform.repeated
    ledger = platform.of("step")[-1]["data"]["ledger"]
    assert (ledger["handed_out"], ledger["trained"], ledger["pending"]) == (48, 48, 0)
    launcher.until_gone()

    wanted = history(platform, 3)
    checkpoint = platform.of("checkpoint")[0]["data"]
    again = PlatformDouble()
    again.files = platform.files
    again.bundle = {
        **platform.bundle,
        "attempt": 2,
        "resume": {"step": 2, "path": checkpoint["path"], "manifest_sha256": checkpoint["manifest_sha256"]},
        "evaluated": True,
    }
    again.commands = CONTROLS[:2]
    launcher.platform = again
    launcher.start_from_another_process()
    again.wait(lambda: again.states()[-1:] == ["succeeded"])
    assert again.steps() == [3, 4, 5, 6]
    assert history(again, 3) == wanted
    again.close()


@pytest.mark.parametrize("learn", ["completion", "all"])
def test_a_supervised_run_learns_its_rows(warm_launcher: Any, platform: PlatformDouble, learn: str) -> None:
    objective = {**SFT, "learn": learn, "noise": 5.0}
    prepare(
        warm_launcher,
        platform,
        examples_spec(objective, schedule={"steps": 12, "prompts_per_step": 16}),
        with_completion,
    )
    warm_launcher.start()
    platform.wait(lambda: platform.states()[-1:] == ["succeeded"])
    warm_launcher.until_gone()
    held_out = evaluated(platform, "eval/held_out/loss")
    assert len(held_out) == 5 and held_out[-1] < held_out[0]
    losses = metric(platform, "sft/loss")
    assert losses[-1] is not None and losses[0] is not None and losses[-1] < losses[0]
    shares = metric(platform, "examples/taught_share")
    assert all(share is not None and (share > 0.6 if learn == "all" else share < 0.6) for share in shares)
    assert metric(platform, "timing_s/sync") == [None] * 12, "no engine waits for weights"


@pytest.mark.parametrize(
    "loss",
    [
        {"type": "dpo", "beta": 0.5, "label_smoothing": 0.1},
        {"type": "ipo", "beta": 0.5},
        {"type": "simpo", "beta": 2.0, "margin": 0.5},
        {"type": "orpo", "weight": 0.5},
    ],
    ids=lambda loss: loss["type"],
)
def test_a_preference_run_learns_which_answer_is_better(
    warm_launcher: Any, platform: PlatformDouble, loss: dict[str, Any]
) -> None:
    objective = {
        "type": "preference",
        "loss": loss,
        "chosen": "chosen",
        "rejected": "rejected",
        "sft_coefficient": 0.1,
        "max_tokens": 64,
        "overlong": "drop",
    }
    schedule = {"steps": 8, "prompts_per_step": 16}
    prepare(warm_launcher, platform, examples_spec(objective, schedule=schedule), with_pair)
    warm_launcher.start()
    platform.wait(lambda: platform.states()[-1:] == ["succeeded"])
    warm_launcher.until_gone()
    margins = metric(platform, "preference/margin")
    assert margins[-1] is not None and margins[0] is not None and margins[-1] > margins[0]
    held_out = evaluated(platform, "eval/held_out/preference_margin")
    assert held_out[-1] > held_out[0]
    assert all(0.0 <= accuracy <= 1.0 for accuracy in evaluated(platform, "eval/held_out/preference_accuracy"))


def test_a_run_that_a_guard_pauses_continues(warm_launcher: Any, platform: PlatformDouble) -> None:
    guards = [
        {
            "type": "metric_bound",
            "metric": "sft/loss",
            "name": "high",
            "max": 0.0,
            "for_steps": 2,
            "action": "pause",
        }
    ]
    prepare(warm_launcher, platform, examples_spec(SFT, guards=guards), with_completion)
    warm_launcher.start()
    platform.wait(lambda: platform.states()[-1:] == ["paused"])
    assert platform.steps() == [1, 2]
    platform.desired_state = "paused"
    syncs = platform.syncs
    platform.wait(lambda: platform.syncs > syncs + 1)
    platform.desired_state = "running"
    platform.wait(lambda: platform.states()[-1:] == ["succeeded"])
    warm_launcher.until_gone()
    assert platform.steps() == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("objective", "words"),
    [
        (SFT, ("add@1", "completion")),
        ({"type": "preference", "max_tokens": 64}, ("add@1", "chosen")),
        ({**SFT, "completion": "answer", "max_tokens": 8, "overlong": "refuse"}, ("add@1", "max_tokens")),
        ({**SFT, "completion": "answer", "max_tokens": 8, "overlong": "drop"}, ("add@1", "No row is left")),
    ],
)
def test_rows_that_cannot_be_learned_end_the_start(
    warm_launcher: Any, platform: PlatformDouble, objective: dict[str, Any], words: tuple[str, ...]
) -> None:
    prepare(warm_launcher, platform, examples_spec(objective), lambda row: {**row, "prompt": f"{row['prompt']:>20}"})
    warm_launcher.start()
    platform.wait(lambda: platform.states()[-1:] == ["failed"])
    warm_launcher.until_gone()
    reason = platform.of("state")[-1]["data"]["reason"]
    assert all(word in reason for word in words), reason
    assert platform.steps() == []
