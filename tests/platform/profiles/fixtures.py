"""The worker of a profile, as far as the platform can see, and what it is asked for."""

from typing import Any

from dressage.profiles.models import Profile
from tests.platform.jobs import JobWorker


def spec(**parts: Any) -> dict[str, Any]:
    """A spec over the version ``sums@1``."""
    return {
        "policy": {"base": "small"},
        "data": {"sources": [{"name": "rows", "dataset": "sums@1"}]},
        "reward": {"definition": "exact@1"},
        "rollout": {"max_tokens": 32, "engine": {"max_model_len": 96}},
        **parts,
    }


def body(**changes: Any) -> dict[str, Any]:
    """What makes a profile of the version's two rows."""
    return {"spec": spec(), "plan": {"budget": 16}, **changes}


def row(number: int, samples: int, correct: int, **answers: int) -> dict[str, Any]:
    """A row as a worker hands it in."""
    found = [{"text": text.removeprefix("is"), "votes": votes} for text, votes in answers.items()]
    return {"row": number, "asked": samples, "samples": samples, "correct": correct, "answers": found}


class ProfileWorker(JobWorker):
    """What the cluster does with a profile."""

    model, folder = Profile, "profiles"

    def hand_in(self, number: int, *rows: dict[str, Any], status: int = 200) -> Any:
        """Hand in a batch."""
        batch = {"number": number, "rows": rows, "tokens": 40, "seconds": 2.0}
        response = self.client.post(f"{self.path}/batches", batch, format="json")
        assert response.status_code == status, response.content
        return response.json()
