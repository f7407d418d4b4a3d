"""When to use each method, and which metrics tell whether it works."""

from dataclasses import dataclass

from trainer_core.explain.advice_policy import POLICY_ADVICE
from trainer_core.explain.advice_sampling import SAMPLING_ADVICE

ADVICE = POLICY_ADVICE | SAMPLING_ADVICE
"""By ``room`` or ``room/type``: a sentence, and names of metrics."""


@dataclass(frozen=True, slots=True)
class Guidance:
    """Advice on one method."""

    when: str
    watch: tuple[str, ...]


def guidance(room: str, kind: str | None) -> Guidance:
    """Advice on the method ``kind`` of ``room``; if it has none of its own, that on the room, or on what holds it."""
    names = [f"{room}/{kind}", room]
    while "." in room:
        room = room.rpartition(".")[0]
        names.append(room)
    when, watch = next((ADVICE[name] for name in names if name in ADVICE), ("", ()))
    return Guidance(when, watch)
