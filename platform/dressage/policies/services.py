"""Writes of policies."""

from pathlib import Path

from django.conf import settings
from django.db import transaction

from dressage.common.actors import Actor
from dressage.common.errors import FieldError
from dressage.common.problems import conflict, invalid
from dressage.common.slugs import slug_for
from dressage.policies.inspection import UnfitFolder, inspect
from dressage.policies.models import Policy
from dressage.teams.models import Team
from dressage.teams.services import record_audit


def policy_roots() -> list[Path]:
    """Folders under which policies may lie, with links followed."""
    roots: list[Path] = settings.POLICY_ROOTS
    return [root.resolve() for root in roots]


def register_policy(team: Team, actor: Actor, name: str, path: str | Path, *, slug: str | None = None) -> Policy:
    """Register a Hugging Face folder as a base policy.

    Raises:
        Problem: 422 when the folder is unfit, 409 when the slug is taken.
    """
    slug = slug_for(name, slug)
    try:
        facts = inspect(str(path), policy_roots())
    except UnfitFolder as error:
        raise invalid("/path", str(error), code="unfit_policy") from error
    with transaction.atomic():
        Team.objects.select_for_update(no_key=True).get(pk=team.pk)
        if Policy.objects.for_team(team).filter(slug=slug).exists():
            detail = f"There is already a policy {slug!r}. Choose another slug."
            raise conflict(detail, code="slug_taken", errors=[FieldError(pointer="/slug", detail=detail)])
        policy = Policy.objects.create(
            team=team,
            slug=slug,
            name=name,
            path=str(facts.path),
            architecture=facts.architecture,
            parameters=facts.parameters,
            vocab_size=facts.vocab_size,
            max_position_embeddings=facts.max_position_embeddings,
            bytes=facts.bytes,
            sha256=facts.sha256,
            created_by=actor.label,
        )
        after = {"slug": slug, "path": policy.path, "sha256": policy.sha256}
        record_audit(team, actor, "policy.register", "policy", policy.id, after=after)
    return policy
