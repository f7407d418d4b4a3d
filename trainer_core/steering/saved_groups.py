"""Groups as JSON. Arrays are stored as base64 of their bytes, so every bit is preserved."""

import base64
from dataclasses import fields
from typing import Any

import numpy as np

from trainer_core.episodes import Credit, Group, Trajectory, Turn, Verdict

_CLEARED = ("learner_logprobs", "entropy")
"""The learner computes them again, so they are not worth the space."""
_VERDICT = {
    "reward": "reward",
    "reward_parts": "parts",
    "reward_error": "error",
    "reward_forgiven": "forgiven",
    "reward_stops": "stops",
    "shadow_rewards": "shadow_rewards",
    "shadow_errors": "shadow_errors",
    "length_correction": "length_correction",
}
"""Names of a verdict's fields in the JSON, which is flat as in earlier releases. The explanation is left out: it was
reported when the group came back, and is not needed again."""
_CREDIT = {
    "advantage": "advantage",
    "excluded": "excluded",
    "length_logit": "length_logit",
    "compared": "compared",
}
_LEFT_OUT: dict[str, Any] = {"length_logit": None, "compared": True}
"""Left out if they have these values, so that workers from earlier releases can read the group."""
_PARTS = {"verdict": (Verdict, _VERDICT), "credit": (Credit, _CREDIT)}


def pack_group(group: Group) -> dict[str, Any]:
    """The group as JSON."""
    plain = {f.name: getattr(group, f.name) for f in fields(Group) if f.name != "trajectories"}
    return {**plain, "trajectories": [_pack(trajectory) for trajectory in group.trajectories]}


def unpack_group(document: dict[str, Any]) -> Group:
    """Restores a group that ``pack_group`` packed."""
    trajectories = [_unpack(one) for one in document["trajectories"]]
    return Group(**{**document, "trajectories": trajectories})


def _pack(trajectory: Trajectory) -> dict[str, Any]:
    packed: dict[str, Any] = {}
    for field in fields(Trajectory):
        value = getattr(trajectory, field.name)
        if field.name in _PARTS:
            names = _PARTS[field.name][1]
            found = {stored: getattr(value, name) for stored, name in names.items()}
            packed |= {name: one for name, one in found.items() if name not in _LEFT_OUT or one != _LEFT_OUT[name]}
            continue
        if field.name == "turns":
            # Left out if there is one turn, so that workers from earlier releases can read the group.
            packed |= {"turns": [[turn.author, turn.start] for turn in value]} if value else {}
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
    values["turns"] = tuple(Turn(author, start) for author, start in values.get("turns", ()))
    values["reward_forgiven"] = tuple(values["reward_forgiven"])
    for part, (build, names) in _PARTS.items():
        values[part] = build(**{name: values.pop(stored) for stored, name in names.items() if stored in values})
    return Trajectory(**values)
