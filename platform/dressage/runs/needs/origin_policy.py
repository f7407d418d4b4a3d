"""The base policy of a checkpoint: a run that starts from its weights must name the same one."""

from dressage.common.api.problems import invalid
from dressage.policies import selectors as policies
from dressage.policies.models import Policy
from dressage.teams.models import Team
from trainer_core.spec import RunSpec


def require_same(team: Team, spec: RunSpec, trained: str, step: int) -> None:
    """Require that a run with the weights of a checkpoint names the policy that these were trained from.

    Another slug of the same policy is accepted, and a slug that the team lacks is left to ``references``.

    Args:
        team: the owner of both.
        spec: the run's spec.
        trained: slug of the base policy of the run that wrote the checkpoint.
        step: step of the checkpoint.

    Raises:
        Problem: 422, which names both policies.
    """
    asked = spec.policy.base
    if asked == trained:
        return
    found = {one.slug: one for one in policies.policies(team).filter(slug__in=(asked, trained))}
    if asked not in found or (trained in found and _equal(found[asked], found[trained])):
        return
    detail = (
        f"The checkpoint of step {step} was trained from {_described(trained, found)}, and the spec names "
        f"{_described(asked, found)}. Weights and tokenizer come from the checkpoint, so name {trained!r}. "
        f"To train {asked!r}, start from the base policy (checkpoint: null), or create a new run."
    )
    raise invalid("/spec/policy/base", detail, code="other_policy")


def _equal(one: Policy, other: Policy) -> bool:
    """Whether two rows are the same policy: one folder, or the same configuration, tokenizer and weights."""
    return one.path == other.path or _identity(one) == _identity(other)


def _identity(policy: Policy) -> tuple[str, str, int, int]:
    """Hash of the files, and facts that follow from them."""
    return policy.sha256, policy.architecture, policy.vocab_size, policy.parameters


def _described(slug: str, found: dict[str, Policy]) -> str:
    policy = found.get(slug)
    if policy is None:
        return f"the policy {slug!r}"
    return f"the policy {slug!r} ({policy.architecture}, vocabulary of {policy.vocab_size})"
