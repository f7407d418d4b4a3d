"""The version of the link, as either side names it, and what a person is told when the two do not fit."""

import re

LINK_VERSION = 1
"""The version of the messages that this installation writes."""
SPOKEN = frozenset({1})
"""Versions that this installation reads."""
UNNAMED = 1
"""The version of a peer that names none: of the time before the header."""
HEADER = "Dressage-Link-Version"
"""HTTP header of every request and every answer of the link."""


def header() -> dict[str, str]:
    """The header by which this installation names its version."""
    return {HEADER: str(LINK_VERSION)}


def objection_to_worker(told: str | None) -> str | None:
    """Reason why the platform cannot work with a worker, as a sentence for the person whose run it is. None: it can.

    Args:
        told: the header of the worker's request; None without one.
    """
    worker = _read(told)
    if worker is None:
        return f"The cluster's worker sent {_quoted(told)} as its link version: {_GARBLED}"
    return None if worker in SPOKEN else _disagreement(worker, LINK_VERSION)


def objection_to_platform(told: str | None) -> str | None:
    """Reason why a worker cannot work with its platform; see ``objection_to_worker``."""
    platform = _read(told)
    if platform is None:
        return f"The platform sent {_quoted(told)} as its link version: {_GARBLED}"
    return None if platform in SPOKEN else _disagreement(LINK_VERSION, platform)


_GARBLED = "that is not a version. Check for a proxy between cluster and platform that changes headers."


def _disagreement(worker: int, platform: int) -> str:
    older = "the cluster's workers" if worker < platform else "the platform"
    return f"This cluster runs Dressage's link version {worker}, the platform runs {platform}: upgrade {older}."


def _read(told: str | None) -> int | None:
    if told is None:
        return UNNAMED
    return int(told) if re.fullmatch(r"[1-9][0-9]{0,8}", told) else None


def _quoted(told: str | None) -> str:
    return repr((told or "")[:40])
