"""A run on HumanEval's prompts: the real engine writes, the jail judges, and no error hides behind a zero."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.worker.loop.platform_double import PlatformDouble

FILE = Path(__file__).resolve().parents[2] / "data" / "references" / "humaneval" / "HumanEval.jsonl"
COMPLETED = {"type": "code_tests", "prepend": "prompt", "entry_point": "entry_point", "timeout_s": 10.0}
RUNS_AT_ALL = {"type": "code_tests", "tests": "none", "timeout_s": 10.0}
REWARD = {
    "components": [
        {"name": "tests", "weight": 1.0, "grader": COMPLETED},
        {"name": "is_python", "weight": 0.0, "grader": RUNS_AT_ALL},
    ],
    "success_threshold": 0.5,
}


def rows(longest: int) -> list[dict[str, Any]]:
    found = []
    for line in FILE.read_text().splitlines():
        row = json.loads(line)
        tests = [f"{row['test']}\ncheck({row['entry_point']})"]
        none = [{"input": "", "output": ""}]
        if len(row["prompt"]) <= longest:
            found.append({**row, "tests": tests, "none": none})
    return found


def test_code_is_written_and_judged(warm_launcher: Any, platform: PlatformDouble, spec: Callable[..., Any]) -> None:
    document = spec(
        data__sources=[{"name": "humaneval", "dataset": "humaneval@1"}],
        rollout__engine={"max_model_len": 512, "max_num_seqs": 64, "kv_cache_gib": 0.05},
        schedule={"steps": 2, "prompts_per_step": 4},
        evaluation__sources=[],
        reward={"definition": "code@1", "timeout_seconds": 60.0},
    )
    warm_launcher.prepare(document, reward={"ref": "code@1", "definition": REWARD})
    prompts = rows(longest=450)
    assert len(prompts) >= 10
    warm_launcher.platform.bundle["datasets"] = {
        "humaneval@1": warm_launcher.platform.add_dataset("humaneval@1", prompts)
    }
    warm_launcher.start()
    platform.wait(lambda: platform.states()[-1:] in (["succeeded"], ["failed"]))

    assert platform.states() == ["starting", "running", "succeeded"], platform.of("state")[-1]["data"]
    steps = [event["data"]["metrics"] for event in platform.of("step")]
    assert len(steps) == 2
    for metrics in steps:
        assert metrics["reward/error_share"] == 0.0
        assert metrics["critic/score/max"] == 0.0, "a policy of arithmetic passes no test of HumanEval"
    graded = [row for event in platform.of("rollouts") for row in event["data"]["rows"]]
    assert len(graded) == 2 * 4 * 4
    assert {row["reward_error"] for row in graded} == {None}
    assert {row["reward_parts"]["tests"] for row in graded} == {0.0}
    errors = [event["data"]["title"] for event in platform.of("alert") if event["data"]["level"] == "error"]
    assert errors == ["No step has updated the policy"], "no sample was better than another"
    warm_launcher.until_gone()
