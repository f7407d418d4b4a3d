"""Writes of policies."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.db import transaction

from dressage.common.actors import Actor
from dressage.common.api.errors import FieldError
from dressage.common.api.problems import conflict, invalid
from dressage.common.ids import new_id
from dressage.common.lengthy import FILES
from dressage.common.slugs import slug_for
from dressage.embedded.private_files import sync_folder
from dressage.policies.facts import read_contents
from dressage.policies.folders import ClosedFolder, own_root, require_open
from dressage.policies.inspection import PolicyFacts, UnfitFolder, inspect, inspect_config
from dressage.policies.kinds import unfit_config
from dressage.policies.leftovers import unfinished
from dressage.policies.models import OPEN, Policy, PolicyImport
from dressage.policies.snapshots import SnapshotError, copy_checkpoint
from dressage.teams.models import Team
from dressage.teams.services import record_audit


def register_policy(team: Team, actor: Actor, name: str, path: str | Path, *, slug: str | None = None) -> Policy:
    """Register a Hugging Face folder as a base policy.

    Raises:
        Problem: 422 when the folder is unfit or not open to the team, 409 when the slug is taken, 429 or 503 when too
            many files are read at once.
    """
    slug = slug_for(name, slug)
    try:
        folder = require_open(team, Path(path))
        with FILES.place(team.id):
            facts = inspect(folder)
            _refuse_unfit(folder)
        require_open(team, folder)  # it may have been replaced by a link while it was read
    except (ClosedFolder, UnfitFolder) as error:
        raise invalid("/path", str(error), code="unfit_policy") from error
    return store_policy(team, actor, slug, name, facts, read_from=folder)


def _refuse_unfit(folder: Path) -> None:
    """Refuse a folder whose policy could not be trained, as an import does."""
    if (reason := unfit_config(inspect_config(folder))) is not None:
        raise UnfitFolder(reason)


def register_checkpoint(
    team: Team, actor: Actor, name: str, *, slug: str | None, checkpoint: str, folder: Path, manifest_sha256: str
) -> Policy:
    """Register a copy of a checkpoint's weights as a base policy of the team, which outlives the checkpoint.

    Args:
        team: the owner of the checkpoint: the caller has looked it up within the team.
        actor: who registers it.
        name: what people call it.
        slug: how specs name it; made from the name when None.
        checkpoint: the checkpoint's id.
        folder: its folder, with links followed.
        manifest_sha256: hash of its manifest, as recorded.

    Raises:
        Problem: 409 when the slug is taken or the files are not those that were recorded, 422 when they are no policy,
            429 or 503 when too many files are read at once.
    """
    slug = slug_for(name, slug)
    require_free(team, slug)  # before gigabytes are copied; asked again when the row is written
    policy_id = new_id(Policy.id_prefix)
    target = own_root(team) / policy_id
    copy = unfinished(target)
    try:
        with FILES.place(team.id):
            copy_checkpoint(folder, copy, manifest_sha256)
            facts = replace(inspect(copy.resolve()), path=target.resolve())
        with transaction.atomic():
            policy = store_policy(team, actor, slug, name, facts, read_from=copy, id=policy_id, checkpoint=checkpoint)
            copy.rename(target)
            sync_folder(target.parent)
        return policy
    except SnapshotError as error:
        raise conflict(f"The checkpoint cannot become a policy: {error}.", code="checkpoint_gone") from error
    except UnfitFolder as error:
        raise invalid("", str(error), code="unfit_policy") from error
    finally:
        # What a caller's transaction that fails later leaves under the final name is for ``leftovers.sweep``.
        shutil.rmtree(copy, ignore_errors=True)


@transaction.atomic
def store_policy(
    team: Team,
    actor: Actor,
    slug: str,
    name: str,
    facts: PolicyFacts,
    *,
    read_from: Path,
    licence: str = "",
    **fields: Any,
) -> Policy:
    """Store a policy whose folder was inspected.

    Args:
        team: its owner.
        actor: who registers it.
        slug: how specs name it.
        name: what people call it.
        facts: what the inspection found; with the path that it will have.
        read_from: the folder as long as it lies elsewhere.
        licence: as the place that it came from names it; empty to look into its files.
        fields: further columns.

    Raises:
        Problem: 409 when the slug is taken, 422 when one of the files that only people read is damaged.
    """
    try:
        contents = read_contents(read_from, facts.numbers, licence)
    except UnfitFolder as error:
        raise invalid("/path", str(error), code="unfit_policy") from error
    Team.objects.select_for_update(no_key=True).get(pk=team.pk)
    require_free(team, slug)
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
        facts=contents,
        **fields,
    )
    after: dict[str, Any] = {"slug": slug, "path": policy.path, "sha256": policy.sha256}
    if policy.checkpoint:
        after["checkpoint"] = policy.checkpoint
    if policy.origin:
        after["origin"] = policy.origin
    record_audit(team, actor, "policy.register", "policy", policy.id, after=after)
    return policy


def require_free(team: Team, slug: str) -> None:
    """Require that no policy of the team has the slug, and no import that is not over. Raises a 409 problem."""
    taken = Policy.objects.for_team(team).filter(slug=slug).exists()
    if taken or PolicyImport.objects.for_team(team).filter(slug=slug, state__in=OPEN).exists():
        what = "a policy" if taken else "an import of a policy"
        detail = f"There is already {what} {slug!r}. Choose another slug."
        raise conflict(detail, code="slug_taken", errors=[FieldError(pointer="/slug", detail=detail)])
