r"""Reads what stands between ``\begin`` and ``\end``: matrices, determinants, equations that hold together."""

from trainer_core.rewards.mathematics import atoms
from trainer_core.rewards.mathematics.stream import Stream
from trainer_core.rewards.mathematics.tree import Node, UnreadableError, node


class Surroundings:
    """Surroundings, read from a stream. What stands in them is read by the classes that complete it."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream

    def inside(self) -> tuple[list[Node], str]:
        """Items up to a closing bracket, and what separates them."""
        raise NotImplementedError

    def sum(self) -> Node:
        """A sum."""
        raise NotImplementedError

    def matrix(self) -> Node:
        """Contents of ``begin`` and ``end``: a matrix, a determinant, or cases."""
        stream = self.stream
        name = self._name()
        if name == "array" and stream.at("{"):
            while not stream.at("}"):
                stream.take()
            stream.take()
        if name == "cases":
            return self._cases()
        if name not in atoms.MATRICES and name != "vmatrix":
            raise UnreadableError(f"the surroundings {name[:20]!r}")
        rows: list[list[Node]] = [[]]
        stream.enter("matrix")
        while not stream.at("\\end"):
            if stream.skip("\\\\"):
                rows.append([])
            elif not stream.skip("&", "\\hline"):
                rows[-1].append(self.sum())
        stream.leave()
        stream.take()
        if self._name() != name:
            raise UnreadableError("a matrix that is not closed")
        rows = [row for row in rows if row]
        if not rows or len({len(row) for row in rows}) != 1:
            raise UnreadableError("a matrix with rows of several lengths")
        found = node("matrix", [node("row", row) for row in rows])
        return node("call", [found], "det") if name == "vmatrix" else found

    def _cases(self) -> Node:
        """Equations that hold together, one in each row."""
        items: list[Node] = []
        while not self.stream.at("\\end"):
            row, _ = self.inside()
            items += row
            if not self.stream.skip("\\\\") and not self.stream.at("\\end"):
                raise UnreadableError("cases with conditions")
        self.stream.take()
        self._name()
        return node("list", items, "and")

    def _name(self) -> str:
        self.stream.expect("{")
        name = ""
        while not self.stream.at("}"):
            name += self.stream.take().text
        self.stream.take()
        return name
