"""Objections to training a team's policy as a spec asks, found before anything starts."""

import json
from pathlib import Path

from dressage.common.api.errors import FieldError, join
from dressage.policies.models import Policy
from trainer_core.spec import RunSpec
from trainer_core.support import objections


def errors(policy: Policy, spec: RunSpec) -> list[FieldError]:
    """Fields of ``spec`` that this policy cannot do.

    None where its folder cannot be read, which its start tells, or names no architecture, which its registration does.
    """
    try:
        config = json.loads((Path(policy.path) / "config.json").read_bytes())
    except (OSError, ValueError):
        return []
    if not isinstance(config, dict) or "architectures" not in config:
        return []
    return [FieldError(pointer=join("spec", *path), detail=sentence) for path, sentence in objections(config, spec)]
