"""Parts of the platform that work with a policy."""

from dressage.policies.documents import FitDocument
from dressage.policies.models import Policy


def fits(policy: Policy) -> list[FitDocument]:
    """Parts of the platform, and whether each works with the policy."""
    return []
