"""The worker of a rehearsal, as far as the platform can see."""

from typing import Any

from dressage.rehearsals.models import Rehearsal
from tests.platform.jobs import JobWorker


class RehearsalWorker(JobWorker):
    """What the cluster does with a rehearsal."""

    model, folder = Rehearsal, "rehearsals"


def report(*rewards: float | None) -> dict[str, Any]:
    """A worker's report of one group with these rewards."""
    samples = [
        {
            "text": f"\\boxed{{{place}}}",
            "tokens": 5 + place,
            "finish_reason": "stop",
            "reward": reward,
            "parts": {} if reward is None else {"a": reward},
            "reasons": {"a": "Reads “1”."},
            "error": "a: broken" if reward is None else None,
        }
        for place, reward in enumerate(rewards)
    ]
    group = {
        "source": "add",
        "dataset": "sums@1",
        "row": 0,
        "prompt_tokens": 3,
        "pieces": [{"text": "<s>", "control": True}, {"text": "1+1"}, {"text": "="}],
        "answer": "2",
        "samples": samples,
    }
    return {
        "groups": [group],
        "findings": [{"kind": "all_cut", "title": "All answers are cut", "message": "Cut.", "advice": "Raise it."}],
        "signal_share": float(len(set(rewards)) > 1),
        "cut_share": 0.0,
        "speed": {
            "start_s": 9.0,
            "generate_s": 2.0,
            "reward_s": 0.5,
            "tokens_per_s": 100.0,
            "running": 4.0,
            "prompt_tokens": 3.0,
        },
    }
