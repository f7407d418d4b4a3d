"""Bundle: everything that an attempt needs to start."""

from pathlib import Path

from django.db.models.functions import Now

from dressage.common.api.problems import conflict
from dressage.runs.facts import ramps
from dressage.runs.link import evaluations
from dressage.runs.link.datasets import dataset_refs
from dressage.runs.link.reference_policy import has_own_weights, policy_folder, reference
from dressage.runs.models import Attempt, Run
from dressage.runs.needs import references, reward_versions
from dressage.runs.recovery.attempts import LEASE_S
from dressage.runs.states import ControlState
from trainer_core.link.bundle import Bundle, PolicyRef, Resume
from trainer_core.spec import RunSpec


def hand_out(attempt: Attempt) -> Bundle:
    """The bundle, with the keys of judges while the attempt has not started: its worker fetches them once.

    Until the attempt's first sync, it is unknown whether the worker has received the answer, so it may ask again. An
    attempt that started under an earlier release gets them once. Raises a 422 problem if a reference is gone.
    """
    document = bundle(attempt)
    if attempt.first_sync_at is not None and attempt.keys_given_at is not None:
        return document.without_keys()
    Attempt.objects.filter(pk=attempt.pk).update(keys_given_at=Now())
    return document


def bundle(attempt: Attempt) -> Bundle:
    """The bundle of the run's current attempt. Raises a 422 problem if a reference is gone."""
    run = attempt.run
    spec = RunSpec.model_validate(run.effective_spec)
    found = references.require(run.team, spec)
    assert found.policy is not None
    in_effect = (ControlState.APPLIED, ControlState.SETTLED)
    revisions = run.controls.filter(state__in=in_effect).order_by("-revision").values_list("revision", flat=True)
    run.run_dir.mkdir(parents=True, exist_ok=True)
    resume = _resume(run, attempt)
    return Bundle(
        run_id=run.id,
        attempt=attempt.number,
        spec=spec,
        revision=revisions.first() or 0,
        policy=PolicyRef(
            name=found.policy.slug,
            path=policy_folder(run, Path(found.policy.path)),
            **({"manifest_sha256": run.origin_manifest_sha256} if has_own_weights(run) else {}),
        ),
        teacher=None if found.teacher is None else PolicyRef(name=found.teacher.slug, path=Path(found.teacher.path)),
        reference=reference(run, spec, found),
        **reward_versions.bundle_parts(run.team, spec, found.reward),
        datasets=dataset_refs(spec, found.datasets, f"/api/v1/link/runs/{run.id}/datasets", afresh=resume is None),
        resume=resume,
        evaluated=evaluations.are_told(run, attempt.resume_step, from_parent=attempt.checkpoint is None),
        ramps=ramps.carried_on(run),
        measure_noise=_measures_noise(run, attempt),
        run_dir=run.run_dir,
        lease_s=LEASE_S,
    )


def _measures_noise(run: Run, attempt: Attempt) -> bool:
    """Whether the attempt continues from a checkpoint written before users asked to measure the noise again."""
    if run.noise_asked_at is None or attempt.number <= run.noise_asked_at:
        return False
    return attempt.checkpoint is None or attempt.checkpoint.attempt <= run.noise_asked_at


def _resume(run: Run, attempt: Attempt) -> Resume | None:
    checkpoint = attempt.checkpoint
    if checkpoint is not None:
        path, digest = checkpoint.folder, checkpoint.manifest_sha256
    elif run.continues:
        path, digest = run.origin_path, run.origin_manifest_sha256
    elif attempt.resume_step:
        raise conflict("The checkpoint of this attempt no longer exists.", code="checkpoint_gone")
    else:
        return None
    return Resume(step=attempt.resume_step, path=path, manifest_sha256=digest)
