"""Changes to policies."""

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
        Problem: 422 if the folder is unfit or not open to the team; 409 if the slug is taken; 429 or 503 if too many
            files are being read.
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
    """Refuse a folder whose policy could not be trained, like an import does."""
    if (reason := unfit_config(inspect_config(folder))) is not None:
        raise UnfitFolder(reason)


def register_checkpoint(
    team: Team, actor: Actor, name: str, *, slug: str | None, checkpoint: str, folder: Path, manifest_sha256: str
) -> Policy:
    """Register a copy of a checkpoint's weights as a base policy of the team. The copy outlives the checkpoint.

    Args:
        team: the owner of the checkpoint. The caller has looked the checkpoint up within the team.
        actor: who registers it.
        name: display name of the policy.
        slug: name of the policy in specs; derived from the name if None.
        checkpoint: the checkpoint's id.
        folder: its folder, with links resolved.
        manifest_sha256: hash of its manifest, as recorded.

    Raises:
        Problem: 409 if the slug is taken or the files are not the recorded ones; 422 if they are not a policy; 429 or
            503 if too many files are being read.
    """
    slug = slug_for(name, slug)
    require_free(team, slug)  # before gigabytes are copied; checked again when the row is written
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
        # If the caller's transaction fails later, ``leftovers.sweep`` removes the folder with the final name.
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
    """Store a policy whose folder has been inspected.

    Args:
        team: its owner.
        actor: who registers it.
        slug: name of the policy in specs.
        name: display name of the policy.
        facts: the result of the inspection, with the final path.
        read_from: the current folder, if it is not yet at its final path.
        licence: licence named by the place of origin; empty to look for it in the files.
        fields: further columns.

    Raises:
        Problem: 409 if the slug is taken; 422 if one of the files that are only for people is damaged.
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
    """Require that neither a policy nor an open import of the team has the slug. Raises a 409 problem."""
    taken = Policy.objects.for_team(team).filter(slug=slug).exists()
    if taken or PolicyImport.objects.for_team(team).filter(slug=slug, state__in=OPEN).exists():
        what = "a policy" if taken else "an import of a policy"
        detail = f"There is already {what} {slug!r}. Choose another slug."
        raise conflict(detail, code="slug_taken", errors=[FieldError(pointer="/slug", detail=detail)])
