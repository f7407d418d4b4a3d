r"""Reads what stands between ``\begin`` and ``\end``: matrices, determinants, equations that hold together."""

from trainer_core.rewards.mathematics import atoms
from trainer_core.rewards.mathematics.stream import Stream
from trainer_core.rewards.mathematics.tree import Node, UnreadableError, node

_WHEN = {"if", "for", "when", "where", "falls", "wenn", "si", "pour", "当", "若"}
_ELSE = {"otherwise", "else", "sonst", "sinon", "其他", "否则"}


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
        """Equations that hold together, one in each row; or values, each with the condition behind its ``&``."""
        stream = self.stream
        items: list[Node] = []
        pieces: list[Node] = []
        while not stream.at("\\end"):
            row, _ = self.inside()
            if stream.skip("&"):
                if len(row) != 1:
                    raise UnreadableError("a case with several values")
                pieces.append(node("piece", [row[0], self._condition()]))
            else:
                items += row
            if not stream.skip("\\\\") and not stream.at("\\end"):
                raise UnreadableError("cases with conditions")
        if items and pieces:
            raise UnreadableError("cases of which only some have conditions")
        stream.take()
        self._name()
        return node("piecewise", pieces) if pieces else node("list", items, "and")

    def _condition(self) -> Node:
        """Read the condition behind the ``&`` of a case: a relation, several, or words."""
        stream = self.stream
        words: list[str] = []
        while stream.peek().kind == "word" and stream.peek().text.casefold() in _WHEN:
            stream.take()
        ahead = 0
        while stream.peek(ahead).kind in ("word", "letter"):
            ahead += 1
        if stream.peek(ahead - 1).kind == "word" and stream.at("\\\\", "\\end", ".", ",", ahead=ahead):
            while not stream.at("\\\\", "\\end"):
                words.append(stream.take().text.casefold())
            told = " ".join(word for word in words if word not in (".", ",", "is"))
            return node("words", [], "otherwise" if told in _ELSE else told)
        found, how = self.inside()
        if not found:
            raise UnreadableError("a case without its condition")
        return found[0] if len(found) == 1 else node("list", found, how)

    def _name(self) -> str:
        self.stream.expect("{")
        name = ""
        while not self.stream.at("}"):
            name += self.stream.take().text
        self.stream.take()
        return name
