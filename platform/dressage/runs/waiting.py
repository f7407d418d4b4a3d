"""The reason why a queued run waits: as members for programs and as a sentence for people."""

from collections.abc import Sequence
from typing import Annotated, Literal

from django.conf import settings
from typing_extensions import TypedDict

from dressage.common.document_schema import OneOf
from dressage.runs.places import team_limit
from dressage.runs.states import RunState

MAX_NAMES = 3
"""Runs that the sentence names; the others are counted."""


class HolderDocument(TypedDict):
    """A run that holds a place."""

    id: str
    name: str
    state: Annotated[str, OneOf(RunState)]


class QueueFacts(TypedDict):
    """Facts about a queued run's wait, as ``selectors.annotated`` reads them."""

    ahead: int
    """Runs of the team before it."""
    taken: int
    """Places taken, by all teams."""
    own: list[HolderDocument]
    """The team's runs that hold places."""
    own_limit: int | None
    """Places that the team may hold; None is the installation's usual number."""


class WaitingDocument(TypedDict):
    """What a queued run waits for."""

    reason: Literal["places_taken", "team_limit", "turn"]
    """No place is free; the team holds as many as it may, fewer than there are; or a place is free and is about to be
    given."""
    position: int
    """Its place in the team's own queue, from 1."""
    places: int
    """Runs that may train at once, of all teams."""
    taken: int
    """How many of them are taken."""
    team_limit: int
    """How many of them the team may hold."""
    own: list[HolderDocument]
    """The team's runs that hold a place."""
    others: int
    """Places that other teams hold."""
    text: str
    """The same as a sentence."""


def waiting_document(facts: QueueFacts) -> WaitingDocument:
    """The document of a queued run's wait. Of other teams it tells how many places they hold and nothing else."""
    places, limit = settings.MAX_ACTIVE_RUNS, team_limit(facts["own_limit"])
    own, taken = facts["own"], facts["taken"]
    reason: Literal["places_taken", "team_limit", "turn"] = "turn"
    if len(own) >= limit and limit < places:
        reason = "team_limit"
    elif taken >= places:
        reason = "places_taken"
    document: WaitingDocument = {
        "reason": reason,
        "position": facts["ahead"] + 1,
        "places": places,
        "taken": taken,
        "team_limit": limit,
        "own": own,
        "others": taken - len(own),
        "text": "",
    }
    return {**document, "text": _sentence(document)}


def _sentence(waiting: WaitingDocument) -> str:
    taken, position = f"{waiting['taken']} of {waiting['places']}", waiting["position"]
    if waiting["reason"] == "turn" and position == 1:
        return f"Next in the queue; {taken} places are taken."
    holders = _by(waiting["own"], waiting["others"])
    parts = [f"Waiting for a place: {taken} taken{holders}", f"{_ordinal(position)} in your queue"]
    if waiting["reason"] == "team_limit":
        parts.append(f"your team's limit of {waiting['team_limit']} is reached")
    return "; ".join(parts) + "."


def _by(own: Sequence[HolderDocument], others: int) -> str:
    named = [f"“{run['name']}”{' (paused)' if run['state'] == RunState.PAUSED else ''}" for run in own[:MAX_NAMES]]
    if len(own) > MAX_NAMES:
        named.append(f"{len(own) - MAX_NAMES} more of yours")
    if others:
        named.append(f"{others} {'run' if others == 1 else 'runs'} of other teams")
    if not named:
        return ""
    return " by " + (f"{', '.join(named[:-1])} and {named[-1]}" if len(named) > 1 else named[0])


def _ordinal(number: int) -> str:
    last = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in (11, 12, 13) else last}"
