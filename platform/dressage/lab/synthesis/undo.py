"""Versions that syntheses have made, taken back."""

from dressage.common.actors import Actor
from dressage.datasets.versions import deletion
from dressage.lab.models import LabJob


def take_back(job: LabJob, actor: Actor) -> bool:
    """Delete the version that a job has made, with its dataset where it was the only one. False: there is none.

    Raises:
        Problem: 409 where something needs it. Then nothing changes.
    """
    version = job.made_version
    if version is None:
        return False
    deletion.take_back(version, actor)
    return True
