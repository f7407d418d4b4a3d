"""Cost of a synthesis, with all checks that can fail before any request."""

from dressage.common.api.problems import invalid
from dressage.common.lengthy import FILES
from dressage.common.slugs import slug_for
from dressage.datasets.limits import MAX_ROWS
from dressage.datasets.models import DatasetVersion
from dressage.datasets.quota.usage import require_quota
from dressage.datasets.services import require_free
from dressage.lab.arguments import SynthesiseRows
from dressage.lab.asking.cost import cost_of_asking
from dressage.lab.asking.endpoints import asked_endpoint, solving_endpoint
from dressage.lab.cost import LabCost
from dressage.lab.synthesis.chosen import choose
from dressage.lab.synthesis.rewards import verifying_reward
from dressage.teams.models import Team

MAX_VARIATIONS = 20_000
"""Maximum number of variations that one job may request."""


def cost_of_synthesis(team: Team, version: DatasetVersion, operation: SynthesiseRows) -> LabCost:
    """Estimate the cost.

    Raises:
        Problem: 409 if the slug of the new dataset is taken, or the version with all requested variations would exceed
            the team's quota; 422 if the operation refers to something that does not exist, or requests too much; 429 or
            503 if too many files are being read.
    """
    endpoint, solver = asked_endpoint(team, operation), solving_endpoint(team, operation)
    verifying_reward(team, operation)
    if operation.into is not None:
        require_free(team, slug_for(operation.into.name, operation.into.slug))
    with FILES.place(team.id):
        chosen = choose(version, operation)
    most = len(chosen.numbers) * operation.variations
    if most > MAX_VARIATIONS:
        detail = f"{most:,} variations are requested, and a job creates at most {MAX_VARIATIONS:,}. Choose a sample."
        raise invalid("/operation/sample", detail, code="too_many_variations")
    if version.rows + most > MAX_ROWS:
        raise invalid("/operation", f"The version would have more than {MAX_ROWS:,} rows.", code="too_many_rows")
    require_quota(team.id, bytes=version.bytes, rows=version.rows + most)
    return cost_of_asking(version, operation, endpoint, solver, chosen)
