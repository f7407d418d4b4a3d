"""Obstacles to training a team's policy as a spec requests, found before anything starts."""

import json
from pathlib import Path

from dressage.common.api.errors import FieldError
from dressage.policies.models import Policy
from trainer_core.spec import RunSpec
from trainer_core.spec.faults import join
from trainer_core.support import objections


def errors(policy: Policy, spec: RunSpec) -> list[FieldError]:
    """Fields of ``spec`` that this policy does not support.

    Empty if its folder cannot be read, or names no architecture. Its start or its registration reports these faults.
    """
    try:
        config = json.loads((Path(policy.path) / "config.json").read_bytes())
    except (OSError, ValueError):
        return []
    if not isinstance(config, dict) or "architectures" not in config:
        return []
    return [FieldError(pointer=join("spec", *path), detail=sentence) for path, sentence in objections(config, spec)]
