"""Groups as JSON: arrays travel as base64 of their bytes, so that every bit comes back."""

import base64
from dataclasses import fields
from typing import Any

import numpy as np

from trainer_core.trajectory import Group, Trajectory

_CLEARED = ("learner_logprobs", "entropy")
"""Written anew by the learner: not worth the room."""
_TOLD = ("reward_explained",)
"""Told when the group came back, and by nobody asked for again. A worker of before could not read it."""
_LEFT_OUT = ("length_logit",)
"""Left out where they have no value: workers of before they were kept can read what lacks them."""


def pack_group(group: Group) -> dict[str, Any]:
    """The group as JSON."""
    plain = {f.name: getattr(group, f.name) for f in fields(Group) if f.name != "trajectories"}
    return {**plain, "trajectories": [_pack(trajectory) for trajectory in group.trajectories]}


def unpack_group(document: dict[str, Any]) -> Group:
    """Restores the group that ``pack_group`` has packed."""
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
