"""A live run on a judge that pays for length: the watch sees it and acts, and rubric items are proposed meanwhile."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.judge_endpoint import JudgeServer
from tests.worker.loop.platform_double import PlatformDouble

LONG_S = 300.0
ITEM = {"name": "Sound", "description": "The reasoning is sound.", "weight": 1.0}
JUDGED = {
    "components": [
        {"name": "right", "weight": 1.0, "grader": {"type": "numeric"}},
        {
            "name": "style",
            "weight": 0.5,
            "grader": {"type": "rubric", "scale": "likert", "prompt": "{{sample.output_text}}", "items": [ITEM]},
        },
    ],
    "success_threshold": 1.0,
}
PROPOSED = {"name": "Short", "description": "Says no more than it must.", "weight": 2, "reason": "the better is brief"}


def paid_by_length(body: dict[str, Any]) -> str:
    """A verdict from 1 to 5 by the response's length alone; or one more item for the rubric."""
    if body["messages"][0]["content"].startswith("You improve a rubric"):
        return json.dumps({"items": [PROPOSED]})
    shown = re.search(r"\[([0-9a-f]{16})\]\n(.*)\n\[\1\]", body["messages"][1]["content"], re.DOTALL)
    assert shown is not None
    return json.dumps({"verdicts": [{"criterion": 1, "reason": "", "score": 1 + min(4, len(shown.group(2)) // 6)}]})


@pytest.fixture
def judge() -> Iterator[JudgeServer]:
    made = JudgeServer(paid_by_length)
    yield made
    made.close()


def test_the_bias_is_seen_and_taken_off(
    warm_launcher: Any, platform: PlatformDouble, spec: Callable[..., Any], judge: JudgeServer, tmp_path: Path
) -> None:
    document = spec(
        reward__definition="judged@1",
        reward__length_bias={"component": "style", "window": 64, "threshold": 0.3, "reaction": "normalise"},
        reward__evolve={"component": "style", "every_steps": 2, "prompts_per_step": 2},
        schedule__steps=4,
        evaluation__sources=[],
    )
    endpoint = {"base_url": judge.url, "model": "m", "api_key": "sk-secret", "max_in_flight": 32}
    warm_launcher.prepare(document, reward={"ref": "judged@1", "definition": JUDGED}, judges={"default": endpoint})
    warm_launcher.start()
    platform.wait(lambda: platform.states()[-1:] in (["succeeded"], ["failed"]), LONG_S)
    assert platform.states()[-1] == "succeeded", platform.of("state")[-1]["data"]

    metrics = [event["data"]["metrics"] for event in platform.of("step")]
    assert all(found["judge/calls"] >= 8 * 4 for found in metrics)
    assert sum(found["judge/calls"] for found in metrics) >= 4 * 8 * 4 + 2, "the questions for new items count as well"
    assert "reward/length_bias" not in metrics[0], "the window is not full yet"
    assert all(found["reward/length_bias"] > 0.3 for found in metrics[1:]), "it sees the judge, not its correction"
    alerts = [(event["step"], event["data"]) for event in platform.of("alert")]
    assert [(step, data["title"], data["metric"]) for step, data in alerts] == [
        (2, "The judge pays for length", "reward/length_bias"),
        (2, "Guard: judge bias", "reward/length_bias"),  # the one of every new run, which marks the run
    ]
    assert "The fitted slope is subtracted from its grades" in alerts[0][1]["message"]

    changed = set()
    for event in platform.of("rollouts"):
        for row in event["data"]["rows"]:
            parts = row["reward_parts"]
            assert row["reward"] == pytest.approx(parts["right"] + 0.5 * parts["style"])
            if parts["style"] * 4 != round(parts["style"] * 4):
                changed.add(event["step"])
    assert changed == {3, 4}, "corrected from the step after the alert on"

    rounds = platform.of("rubric_proposals")
    assert [event["step"] for event in rounds] == [2], "the second round said what the first had proposed"
    (proposal,) = rounds[0]["data"]["proposals"]
    assert (rounds[0]["data"]["component"], rounds[0]["data"]["reward_version"]) == ("style", "judged@1")
    assert {name: proposal[name] for name in PROPOSED} == PROPOSED
    assert proposal["better_reward"] > proposal["worse_reward"]
    assert proposal["better"] != proposal["worse"] and proposal["prompt_text"]
    asked = [body for body in judge.requests if body["messages"][0]["content"].startswith("You improve a rubric")]
    assert len(asked) == 4
    assert "Sound" in asked[0]["messages"][1]["content"] and "Short" in asked[-1]["messages"][1]["content"]
    assert "sk-secret" not in json.dumps(platform.events)
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert written and not [path for path in written if b"sk-secret" in path.read_bytes()], "journal and caches too"
    assert not [path for path in (tmp_path / "run").rglob("*") if path.stat().st_mode & 0o077], "their owner's alone"
    warm_launcher.until_gone()
