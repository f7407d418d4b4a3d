"""The worker of a rehearsal, as far as the platform can see."""

import json
from typing import Any

from rest_framework.test import APIClient

from dressage.rehearsals.tokens import rehearsal_token


class RehearsalWorker:
    """What the cluster does with a rehearsal."""

    def __init__(self, rehearsal_id: str, token: str | None = None) -> None:
        self.path = f"/api/v1/link/rehearsals/{rehearsal_id}"
        token = rehearsal_token(rehearsal_id) if token is None else token
        self.client = APIClient(headers={"Authorization": f"Bearer {token}"})

    def take(self, status: int = 200) -> Any:
        response = self.client.get(self.path)
        assert response.status_code == status, response.content
        return response.json()

    def renew(self, status: int = 200, **progress: Any) -> Any:
        response = self.client.post(f"{self.path}/lease", progress or None, format="json")
        assert response.status_code == status, response.content
        return response.json()

    def answer(self, status: int = 200, **body: Any) -> Any:
        text = json.dumps(body, allow_nan=False)
        response = self.client.post(f"{self.path}/result", text, content_type="application/json")
        assert response.status_code == status, response.content
        return response.json()


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
