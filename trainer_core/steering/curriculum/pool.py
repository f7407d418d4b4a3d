"""A set of row indices from which a random member is taken in constant time."""

from collections.abc import Iterable
from random import Random


class IndexPool:
    """Set of ints with ``add``, ``discard`` and ``choose`` in O(1)."""

    def __init__(self, members: Iterable[int] = ()) -> None:
        self._members = list(members)
        self._position = {member: position for position, member in enumerate(self._members)}

    def __len__(self) -> int:
        return len(self._members)

    def __contains__(self, member: int) -> bool:
        return member in self._position

    def add(self, member: int) -> None:
        """Add ``member`` if it is not there."""
        if member not in self._position:
            self._position[member] = len(self._members)
            self._members.append(member)

    def discard(self, member: int) -> None:
        """Remove ``member`` if it is there: the last one takes its place."""
        position = self._position.pop(member, None)
        if position is None:
            return
        last = self._members.pop()
        if last != member:
            self._members[position] = last
            self._position[last] = position

    def choose(self, rng: Random) -> int:
        """A random member; the pool must not be empty."""
        return self._members[rng.randrange(len(self._members))]

    def members(self) -> list[int]:
        """The members in their inner order, which random choices depend on."""
        return list(self._members)
