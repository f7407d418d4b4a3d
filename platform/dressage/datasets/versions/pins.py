"""Users of the rows of a version. Packages that use versions register finders here; datasets do not depend on them."""

from collections.abc import Callable, Collection, Iterable
from typing import Literal

from typing_extensions import TypedDict

from dressage.teams.models import Team


class Pin(TypedDict):
    """Something that needs the rows of a version and so prevents its deletion."""

    kind: Literal["run", "rehearsal", "bench_job", "lab_job", "profile", "goldilocks"]
    id: str
    """Empty if it belongs to a team that the dataset is shared with."""
    name: str
    """Its name. If it belongs to another team, the name of that team."""
    state: str
    ref: str
    """The version that it needs."""


FinderOfPins = Callable[[Team, Collection[str]], Iterable[Pin]]
"""Function from (team, ``slug@number`` of versions) to everything that needs one of them."""
_FINDERS: list[FinderOfPins] = []


def register_finder_of_pins(finder: FinderOfPins) -> None:
    """Register a finder to call before versions are deleted. For ``AppConfig.ready``; registering twice is harmless."""
    if finder not in _FINDERS:
        _FINDERS.append(finder)


FinderOfReaders = Callable[[Team, Collection[str]], Iterable[str]]
"""Function from (team, ``slug@number`` of versions) to the versions that something with retained results has read."""
_FINDERS_OF_READERS: list[FinderOfReaders] = []


def register_finder_of_readers(finder: FinderOfReaders) -> None:
    """Register a finder to call before versions are deleted automatically. As ``register_finder_of_pins``."""
    if finder not in _FINDERS_OF_READERS:
        _FINDERS_OF_READERS.append(finder)


def ever_read(team: Team, refs: Collection[str]) -> set[str]:
    """The versions that retained results of the team depend on."""
    return {ref for finder in _FINDERS_OF_READERS for ref in finder(team, refs)}


def pins(team: Team, refs: Collection[str]) -> list[Pin]:
    """Everything that needs one of the versions."""
    return [pin for finder in _FINDERS for pin in finder(team, refs)]
