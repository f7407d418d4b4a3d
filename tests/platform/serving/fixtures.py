"""Servings as tests know them: their worker, as far as the platform can see."""

from typing import Any

from dressage.policies.models import Policy
from dressage.serving.models import Serving
from dressage.teams.models import Team
from tests.platform.jobs import JobWorker

FOLDER = "/policies/tiny"


def register_policy(team: Team) -> None:
    """The policy ``tiny``."""
    Policy.objects.create(
        team=team, slug="tiny", name="Tiny", path=FOLDER, architecture="A", parameters=1, vocab_size=1,
        max_position_embeddings=96, bytes=1, sha256="0", created_by="x",
    )  # fmt: skip


class ServingWorker(JobWorker):
    """What the cluster does with a serving."""

    model, folder = Serving, "servings"

    def exchange(self, status: int = 200, **body: Any) -> Any:
        """Hand in answers and take questions."""
        response = self.client.post(f"{self.path}/exchange", body, format="json")
        assert response.status_code == status, response.content
        return response.json().get("questions", [])
