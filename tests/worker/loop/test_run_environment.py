"""A run whose policy speaks twice: an environment answers its first turn, and the learner trains on both."""

from collections.abc import Callable
from typing import Any

from tests.worker.loop.platform_double import PlatformDouble

SOURCE = """
def respond(item, messages):
    said = messages[-1]["content"].rpartition("</think>")[2]
    if said == str(item["answer"]):
        return None
    return {"role": "tool", "content": "no, " + item["prompt"]}
"""
REWARD = {
    "components": [
        {"name": "right", "weight": 1.0, "grader": {"type": "numeric"}},
        {"name": "turns", "weight": 0.0, "grader": {"type": "python", "source": """
def grade(sample, item):
    authors = [turn["author"] for turn in sample["turns"]]
    assert authors in (["policy"], ["policy", "tool", "policy"]), authors
    return len(authors)
"""}},
    ],
    "success_threshold": 0.5,
}  # fmt: skip


def test_the_policy_learns_from_all_of_its_turns(
    warm_launcher: Any, platform: PlatformDouble, spec: Callable[..., Any]
) -> None:
    document = spec(
        rollout__environment={"type": "python", "source": SOURCE, "max_turns": 2, "timeout_s": 30, "memory_mb": 512},
        advantage={"type": "dr_grpo", "counted": "learned"},
        rollout__max_tokens=48,
        schedule={"steps": 2, "prompts_per_step": 4},
        evaluation__sources=[],
    )
    warm_launcher.prepare(document, reward={"ref": "calculation@1", "definition": REWARD})
    warm_launcher.start()
    platform.wait(lambda: platform.states()[-1:] in (["succeeded"], ["failed"]))

    assert platform.states() == ["starting", "running", "succeeded"], platform.of("state")[-1]["data"]
    steps = [event["data"]["metrics"] for event in platform.of("step")]
    assert [metrics["reward/error_share"] for metrics in steps] == [0.0, 0.0]
    graded = [row for event in platform.of("rollouts") for row in event["data"]["rows"]]
    assert len(graded) == 2 * 4 * 4
    assert {row["reward_parts"]["turns"] for row in graded} == {1.0, 3.0}, "some answers are right at once"
    assert all("no, " in row["completion"] for row in graded if row["reward_parts"]["turns"] == 3.0)
    for row in graded:
        assert sum(turn["characters"] for turn in row["turns"]) == len(row["completion"])
        assert len(row["turns"]) == row["reward_parts"]["turns"]
    warm_launcher.until_gone()
