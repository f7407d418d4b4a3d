"""The reason a queued run waits: as fields for programs and as a sentence for people."""

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from typing_extensions import TypedDict

from dressage.clusters.selectors import cluster_names, known_as
from dressage.clusters.sizes import ClusterSize, size_of, too_large
from dressage.common.openapi.document_schema import OneOf
from dressage.runs.facts.gpu_hours import GpuHours, hours_limit, this_month
from dressage.runs.facts.places import places_in_all, team_limit
from dressage.runs.needs.choice import ClusterChoice, choose, reservation_in
from dressage.runs.states import RunState
from trainer_core.planning.reservation import Reservation

MAX_NAMES = 3
"""Maximum number of runs that the sentence names; the others are counted."""


class HolderDocument(TypedDict):
    """A run that holds a slot."""

    id: str
    name: str
    state: Annotated[str, OneOf(RunState)]


class QueueFacts(TypedDict):
    """Facts about a queued run's wait, as read by ``selectors.annotated``."""

    ahead: int
    """Number of the team's runs ahead of it."""
    taken: int
    """Slots taken, by all teams."""
    own: list[HolderDocument]
    """The team's runs that hold slots."""
    own_limit: int | None
    """Slots that the team may hold; None: the installation's default."""
    cluster: str
    """The cluster that people chose; empty for any."""
    parallelism: Any
    """The part of its spec with the number of engines and ranks."""
    engine: Any
    """The part of its spec with the number of devices per engine."""
    objective: str | None
    """The type of its objective; None for a run of an earlier release."""
    clusters: list[dict[str, Any]]
    """``clusters.selectors.SIZE_COLUMNS`` of each cluster that has a row."""
    active_on: list[str]
    """The cluster of every run that holds a slot, of all teams."""
    gpu_seconds: float | None
    """GPU seconds that the team has used this month."""
    gpu_hours: float | None
    """GPU hours that the team may use; None: the installation's default."""


class WaitingDocument(TypedDict):
    """What a queued run waits for."""

    reason: Literal["places_taken", "team_limit", "turn", "cluster_grows", "cluster_gone", "too_large", "gpu_hours"]
    """No slot is free; the team holds as many slots as it may, fewer than there are; a slot is free and is about to be
    assigned; a slot is free, but the cluster must first grow; the chosen cluster is gone; no cluster can hold the run
    any more; or the team has used up its GPU hours."""
    cluster: str | None
    """The cluster that people chose; None: any."""
    position: int
    """Its position in the team's own queue, from 1."""
    places: int
    """Runs, of all teams, that may train at the same time."""
    taken: int
    """Number of these slots that are taken."""
    team_limit: int
    """Number of these slots that the team may hold."""
    own: list[HolderDocument]
    """The team's runs that hold a slot."""
    others: int
    """Number of slots that other teams hold."""
    text: str
    """The same information as a sentence."""


def waiting_document(facts: QueueFacts) -> WaitingDocument:
    """The document of a queued run's wait. About other teams it only states how many slots they hold."""
    sizes, hours = _sizes(facts), _hours(facts)
    choice = choose(_demand(facts), facts["cluster"], sizes, hours_spent=hours.are_spent)
    places = places_in_all(sizes)
    limit, own, taken = team_limit(facts["own_limit"], places), facts["own"], facts["taken"]
    document: WaitingDocument = {
        "reason": "team_limit" if len(own) >= limit and limit < places else choice.obstacle or "turn",
        "cluster": facts["cluster"] or None,
        "position": facts["ahead"] + 1,
        "places": places,
        "taken": taken,
        "team_limit": limit,
        "own": own,
        "others": taken - len(own),
        "text": "",
    }
    return {**document, "text": _special(facts, choice, hours, document["reason"]) or _sentence(document)}


def _sizes(facts: QueueFacts) -> list[ClusterSize]:
    rows = {row["name"]: row for row in facts["clusters"]}
    taken = Counter(known_as(name) for name in facts["active_on"])
    return [size_of(name, rows.get(name), taken[name]) for name in cluster_names()]


def _hours(facts: QueueFacts) -> GpuHours:
    used = (facts["gpu_seconds"] or 0.0) / 3600
    return GpuHours(this_month(datetime.now(UTC)), used, hours_limit(facts["gpu_hours"]))


def _special(facts: QueueFacts, choice: ClusterChoice, hours: GpuHours, reason: str) -> str | None:
    """The sentence for a reason that concerns clusters; None for one that concerns the number of slots."""
    demand, among = _demand(facts), list(choice.among)
    names = " or ".join(f"“{size.name}”" for size in among)
    place = f"{_ordinal(facts['ahead'] + 1)} in your queue"
    if reason == "cluster_gone":
        return f"The cluster “{facts['cluster']}” is no longer in this installation: choose another for the run."
    if reason == "too_large":
        return too_large(demand, among)
    if reason == "gpu_hours":
        return (
            f"Waiting for GPU hours: your team has used {hours.used:.1f} of {hours.limit:g} in {hours.month:%B %Y}; "
            f"{place}."
        )
    if reason == "cluster_grows":
        return f"Waiting for the cluster {names} to grow to the run's needs: {_needs(among, facts)}; {place}."
    if reason == "places_taken" and facts["cluster"]:
        size = among[0]
        return f"Waiting for a slot on {names}: {size.taken} of {size.places} taken; {place}."
    return None


def _demand(facts: QueueFacts) -> Reservation:
    return reservation_in(facts["parallelism"], facts["engine"], facts["objective"])


def _needs(among: Sequence[ClusterSize], facts: QueueFacts) -> str:
    demand = _demand(facts)
    size = max(among, key=lambda size: (size.gpus_at_most, size.cpus_at_most))
    has_cpus = size.report.cpus if size.report else 0.0
    words = [f"{has_cpus:g} of {demand.cpus:g} CPUs"]
    if size.gpus_at_most >= 1:
        has = size.report.gpu_count if size.report else 0.0
        words.append(f"{has:g} of {min(demand.gpus, size.gpus_at_most):g} GPUs")
    return " and ".join(words) + (" are there" if len(words) > 1 or demand.cpus != 1 else " is there")


def _sentence(waiting: WaitingDocument) -> str:
    taken, position = f"{waiting['taken']} of {waiting['places']}", waiting["position"]
    if waiting["reason"] == "turn" and position == 1:
        return f"Next in the queue; {taken} slots are taken."
    holders = _by(waiting["own"], waiting["others"])
    parts = [f"Waiting for a slot: {taken} taken{holders}", f"{_ordinal(position)} in your queue"]
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
