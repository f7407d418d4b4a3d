"""Whole questions in words go through the loop as calculations do; a small policy need not solve them."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.worker.loop.conftest import POLICY, rows
from tests.worker.loop.platform_double import PlatformDouble

FORM = {"chat": True, "system": "Be brief.", "suffix": " Answer:"}
RIGHT = {"name": "right", "grader": {"type": "numeric"}}
LENGTH = {"name": "length", "grader": {"type": "length_penalty", "free": 1, "full": 64}}
CLOSED = "{% for message in messages %}{{ message['content'] }} .{% endfor %}"
"""A template that ends the user's turn and begins no other, whatever it is asked for."""


def test_questions_in_words(warm_launcher: Any, platform: PlatformDouble, spec: Callable[..., Any]) -> None:
    changes = {
        "data__sources": [{"name": "questions", "dataset": "questions@1", "format": FORM}],
        "rollout__stop": ["7"],
        "rollout__max_tokens": 64,
        "rollout__temperature": 2.0,
        "rollout__engine": {"max_model_len": 1024, "max_num_seqs": 64, "kv_cache_gib": 0.25},
        "schedule": {"steps": 3, "prompts_per_step": 4},
        "filters": [],
    }
    warm_launcher.prepare(spec(**changes))
    # No answer will be right: what the groups differ in, and what there is to learn, is their length.
    platform.bundle["reward"] = {"ref": "calculation@1", "definition": {"components": [RIGHT, LENGTH]}}
    questions = rows("gsm8k-questions", 64)
    questions[5] = {**questions[5], "prompt": f"{questions[5]['prompt']} <eos>"}
    platform.bundle["datasets"]["questions@1"] = platform.add_dataset("questions@1", questions)
    warm_launcher.start()
    platform.wait(lambda: platform.states()[-1:] in (["succeeded"], ["failed"]))

    assert platform.states() == ["starting", "running", "succeeded"], platform.of("state")[-1]["data"]
    assert platform.steps() == [1, 2, 3]
    shown = [row for event in platform.of("rollouts") for row in event["data"]["rows"]]
    assert shown and {row["prompt"] for row in shown} <= {f"{question['prompt']} Answer:" for question in questions}
    # "7" may be cut out of no token here: a completion holds it at its end, or not at all.
    assert {row["completion"].find("7") for row in shown if "7" not in row["completion"][-1:]} <= {-1}
    assert {row["finish_reason"] for row in shown if row["completion"].endswith("7")} == {"stop"}
    told = [event["data"] for event in platform.of("alert")]
    assert [alert["title"] for alert in told] == ["Control tokens in a dataset's text"]
    assert "In questions@1, 1 row has text" in told[0]["message"] and "row 5 the first: <eos>" in told[0]["message"]
    for event in platform.of("step"):
        metrics = event["data"]["metrics"]
        assert metrics["reward/error_share"] == 0.0
        assert metrics["actor/grad_norm"] > 0.0
        assert 0.0 < metrics["perf/mfu"] < 1.0
        assert metrics["rollout_corr/k3_kl"] < 1e-3
    warm_launcher.until_gone()


def test_a_template_without_a_generation_prompt_is_told_once_at_the_start(
    warm_launcher: Any, platform: PlatformDouble, spec: Callable[..., Any], tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(POLICY, tmp_path / "closed"))
    (folder / "chat_template.jinja").write_text(CLOSED)
    sources = [{"name": name, "dataset": f"{name}@1", "format": {"chat": True}} for name in ("add", "mul")]
    once = {"steps": 1, "prompts_per_step": 4}
    chosen = spec(data__sources=sources, schedule=once, evaluation__every_steps=100, filters=[])
    warm_launcher.prepare(chosen, policy={"name": "closed", "path": str(folder)})
    platform.bundle["reward"] = {"ref": "calculation@1", "definition": {"components": [RIGHT, LENGTH]}}
    warm_launcher.start()
    platform.wait(lambda: platform.states()[-1:] in (["succeeded"], ["failed"]))
    assert platform.states() == ["starting", "running", "succeeded"], platform.of("state")[-1]["data"]
    title = "The chat template adds no generation prompt"
    [told] = [event for event in platform.of("alert") if event["data"]["title"] == title]
    assert told["seq"] < platform.of("step")[0]["seq"], "before the first step"
    assert told["data"]["message"].startswith("The chat template of closed, with add@1, renders the same prompt ")
    assert told["data"]["message"].endswith(
        "Take a template that begins the assistant's turn where add_generation_prompt is set."
    )
    warm_launcher.until_gone()
