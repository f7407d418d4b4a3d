"""Start of a stage: it uses a stored profile, or requests a new one."""

from dressage.common.actors import Actor
from dressage.profiles.goldilocks.asked import AskedGoldilocks, StageName
from dressage.profiles.goldilocks.stored import stored_profile
from dressage.profiles.models import Goldilocks
from dressage.profiles.services import create_profile


def begin_stage(job: Goldilocks, asked: AskedGoldilocks, stage: StageName) -> None:
    """Assign a profile to a stage, in the caller's transaction.

    Raises:
        Problem: as ``create_profile``. Nothing changes then.
    """
    spec, reused = asked.spec_of(stage), list(job.reused)
    profile = stored_profile(job.team, job.version, spec, asked.threshold) if asked.reuse else None
    if profile is not None:
        reused.append(stage)
    else:
        profile = create_profile(
            job.team,
            Actor(**job.actor),
            spec=spec,
            plan=asked.plan_of(stage),
            threshold=asked.threshold,
            cluster=asked.cluster,
        )
    setattr(job, stage, profile)
    job.reused = reused
    job.state = stage
    job.save(update_fields=[stage, "reused", "state"])
