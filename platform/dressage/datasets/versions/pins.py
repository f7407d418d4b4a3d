"""Users of the rows of a version. Rooms that know it register a question here; datasets know none of them."""

from collections.abc import Callable, Collection, Iterable
from typing import Literal

from typing_extensions import TypedDict

from dressage.teams.models import Team


class Pin(TypedDict):
    """Something that needs the rows of a version, which therefore is not deleted."""

    kind: Literal["run", "rehearsal", "bench_job", "lab_job", "profile", "goldilocks"]
    id: str
    """Empty for what belongs to a team that the dataset is shared with."""
    name: str
    """Its name; where it belongs to another team, that team's."""
    state: str
    ref: str
    """The version that it needs."""


FinderOfPins = Callable[[Team, Collection[str]], Iterable[Pin]]
"""(team, ``slug@number`` of versions) to what needs one of them."""
_FINDERS: list[FinderOfPins] = []


def register_finder_of_pins(finder: FinderOfPins) -> None:
    """Ask this before versions are deleted. For ``AppConfig.ready``; a second call with the same one is harmless."""
    if finder not in _FINDERS:
        _FINDERS.append(finder)


FinderOfReaders = Callable[[Team, Collection[str]], Iterable[str]]
"""(team, ``slug@number`` of versions) to those of them that something has ever read whose results are kept."""
_FINDERS_OF_READERS: list[FinderOfReaders] = []


def register_finder_of_readers(finder: FinderOfReaders) -> None:
    """Ask this before versions go by themselves. As ``register_finder_of_pins``."""
    if finder not in _FINDERS_OF_READERS:
        _FINDERS_OF_READERS.append(finder)


def ever_read(team: Team, refs: Collection[str]) -> set[str]:
    """Those of the versions that results depend on which the team still has."""
    return {ref for finder in _FINDERS_OF_READERS for ref in finder(team, refs)}


def pins(team: Team, refs: Collection[str]) -> list[Pin]:
    """All that needs one of the versions."""
    return [pin for finder in _FINDERS for pin in finder(team, refs)]
