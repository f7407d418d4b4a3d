"""Groups as JSON. Arrays are stored as base64 of their bytes, so every bit is preserved."""

import base64
from dataclasses import fields
from typing import Any

import numpy as np

from trainer_core.trajectory import Group, Trajectory

_CLEARED = ("learner_logprobs", "entropy")
"""The learner computes them again, so they are not worth the space."""
_TOLD = ("reward_explained",)
"""Reported when the group came back, and not needed again. A worker from an earlier release could not read it."""
_LEFT_OUT = ("length_logit",)
"""Left out if they have no value, so that workers from earlier releases can read the group."""


def pack_group(group: Group) -> dict[str, Any]:
    """The group as JSON."""
    plain = {f.name: getattr(group, f.name) for f in fields(Group) if f.name != "trajectories"}
    return {**plain, "trajectories": [_pack(trajectory) for trajectory in group.trajectories]}


def unpack_group(document: dict[str, Any]) -> Group:
    """Restores a group that ``pack_group`` packed."""
    trajectories = [_unpack(one) for one in document["trajectories"]]
    return Group(**{**document, "trajectories": trajectories})


def _pack(trajectory: Trajectory) -> dict[str, Any]:
    packed = {}
    for field in fields(Trajectory):
        value = getattr(trajectory, field.name)
        if field.name in _TOLD or (value is None and field.name in _LEFT_OUT):
            continue
        if field.name in _CLEARED:
            value = None
        elif isinstance(value, np.ndarray):
            data = base64.b64encode(value.tobytes()).decode()
            value = {"dtype": value.dtype.str, "shape": list(value.shape), "bytes": data}
        packed[field.name] = value
    return packed


def _unpack(document: dict[str, Any]) -> Trajectory:
    values = {}
    for name, value in document.items():
        if isinstance(value, dict) and set(value) == {"dtype", "shape", "bytes"}:
            flat = np.frombuffer(base64.b64decode(value["bytes"]), np.dtype(value["dtype"]))
            value = flat.reshape(value["shape"]).copy()
        values[name] = value
    return Trajectory(**values)
