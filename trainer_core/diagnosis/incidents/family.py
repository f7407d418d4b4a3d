"""A family of incidents: the signs that belong to it, the signs it finds itself, and its description of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from trainer_core.diagnosis.incidents.facts import Episode, Sign, Symptoms
from trainer_core.diagnosis.incidents.incident import Kind, Told


def nothing(facts: Symptoms) -> Sequence[Sign]:
    """Signs of a family that finds none itself."""
    return ()


@dataclass(frozen=True, slots=True)
class Family:
    """A family of incidents. Each file of this folder declares one."""

    kind: Kind
    takes: Callable[[Sign], bool]
    """Whether a guard's or an alert's objection belongs to it."""
    tell: Callable[[Symptoms, Episode], Told]
    finds: Callable[[Symptoms], Sequence[Sign]] = nothing
    """Signs from the facts alone, without a guard or an alert."""
    watched: tuple[str, ...] = ()
    """Metrics that it reads; names that end in ``/`` are prefixes."""
    lasts: tuple[str, ...] = ()
    """Full names of metrics that are above 0 while an alert of this family applies. Such alerts are reported once and
    never ended."""


def guards_on(*metrics: str) -> Callable[[Sign], bool]:
    """Accepts guards on these metrics; names that end in ``/`` are prefixes."""

    def takes(sign: Sign) -> bool:
        name = sign.metric
        if sign.source != "guard" or name is None:
            return False
        return any(name == one or (one.endswith("/") and name.startswith(one)) for one in metrics)

    return takes


def alerts_of(*codes: str) -> Callable[[Sign], bool]:
    """Accepts alerts with these codes."""
    return lambda sign: sign.source == "alert" and sign.name in codes


def named(*names: str) -> Callable[[Sign], bool]:
    """Accepts what the run itself finds under these names, as a guard would; see ``steering.course``."""
    return lambda sign: sign.source == "guard" and sign.name in names


def either(*rules: Callable[[Sign], bool]) -> Callable[[Sign], bool]:
    """Accepts what any of the rules accepts."""
    return lambda sign: any(rule(sign) for rule in rules)
