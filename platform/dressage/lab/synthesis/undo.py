"""Deletion of versions that syntheses have created."""

from dressage.common.actors import Actor
from dressage.datasets.versions import deletion
from dressage.lab.models import LabJob


def take_back(job: LabJob, actor: Actor) -> bool:
    """Delete the version that a job created, and its dataset if it was the only version. False if there is none.

    Raises:
        Problem: 409 if something needs it. Nothing changes then.
    """
    version = job.made_version
    if version is None:
        return False
    deletion.take_back(version, actor)
    return True
