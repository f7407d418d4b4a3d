"""Reads what stands around expressions: relations, unions, ratios, congruences, lists."""

from trainer_core.rewards.mathematics import atoms
from trainer_core.rewards.mathematics.expressions import Expressions
from trainer_core.rewards.mathematics.times import read_time
from trainer_core.rewards.mathematics.tokens import Token
from trainer_core.rewards.mathematics.tree import Node, UnreadableError, is_number, node, product, symbol

_CLOSING = (")", "]", "}", "\\}", "\\rvert", "\\rfloor", "\\rceil", "\\rangle", "\\\\", "\\end", "&")
_SAYING = ("is", "are", "是", "为", "等于")
_DENYING = {"not", "isn't", "aren't", "never", "wrong", "incorrect"}
_MODULO = ("\\pmod", "\\mod", "\\bmod")


class Structures(Expressions):
    """Whole answers, read from a stream."""

    def answer(self) -> Node:
        """All that is left, as one answer."""
        items, how = self.inside()
        if not self.stream.ended:
            raise UnreadableError(f"{self.stream.peek().text[:20]!r} is left over")
        if not items:
            raise UnreadableError("nothing")
        return items[0] if len(items) == 1 else node("list", items, how)

    def inside(self) -> tuple[list[Node], str]:
        """Items up to a bracket that closes, or the end; and "," or "or" or "and" for what separates them."""
        items: list[Node] = []
        how = ","
        if self._closes() and not self.stream.at("|"):  # of "||x| - 5|" the second bar opens
            return items, how
        while True:
            items.append(self._relation())
            if self.at_membership():
                items.append(self._bracket())
            separator = self._separator()
            if separator is None:
                return items, how
            how = separator if separator != "," else how
            if self._closes():  # a comma behind the last
                return items, how

    def _closes(self) -> bool:
        stream = self.stream
        if stream.ended or stream.at(*_CLOSING):
            return True
        return bool(stream.open) and stream.open[-1] in ("|", "\\vert", "\\|") and stream.at(stream.open[-1])

    def _separator(self) -> str | None:
        """Take what separates items: a comma, a semicolon, a word, or several; None where nothing does."""
        found = None
        while True:
            token = self.stream.peek()
            if self.stream.at(",", ";"):
                found = found or ","
            elif token.kind == "word" and token.text.casefold() in atoms.SEPARATORS:
                found = atoms.SEPARATORS[token.text.casefold()]
            elif self.stream.at("\\lor", "\\vee", "\\land", "\\wedge"):
                found = "or" if token.text in ("lor", "vee") else "and"
            else:
                return found
            self.stream.take()

    def _relation(self) -> Node:
        label, colon = self._label()
        if label is not None and colon:
            return node("relation", [label, self._relation()], "=")
        sides, operators = [self._union() if label is None else label], []
        while self._at_relation():
            operators.append(self._operator())
            self.stream.skip("&")
            self.congruent = operators[-1] == "=mod"
            sides.append(self._union())
            self.congruent = False
        found = sides[0]
        if operators:
            found = node("relation", sides, " ".join(operators))
        if self.stream.at(*_MODULO) or self.at_modulus():
            found = self._congruence(found)
        return found

    def _at_relation(self) -> bool:
        """Whether an operator stands here, or behind an ``&`` that aligns it, which is taken."""
        if self.stream.at("&") and self.stream.at(*atoms.RELATIONS, ahead=1):
            self.stream.take()
        return self.stream.at(*atoms.RELATIONS) or self._negated()

    def _negated(self) -> bool:
        return self.stream.at("\\not", "!") and self.stream.at("=", ahead=1)

    def _operator(self) -> str:
        if self.stream.skip("\\not", "!"):
            self.stream.take()
            return "!="
        token = self.stream.take()
        written = token.text if token.kind == "sign" else f"\\{token.text}"
        if written in ("<", ">") and self.stream.skip("="):
            return f"{written}="
        return atoms.RELATIONS[written]

    def _label(self) -> tuple[Node | None, bool]:
        """Words in front of "=" or ":", and whether a colon follows, which is taken."""
        ahead = 0
        while _is_name(self.stream.peek(ahead)):
            ahead += 1
        if not ahead:
            return None, False
        says = self.stream.peek(ahead - 1).text.casefold().endswith(_SAYING) and not self.stream.at("", ahead=ahead)
        if not says and not self.stream.at("=", ":", ahead=ahead):
            return None, False
        said = ahead - 1 if says and ahead > 1 else ahead
        letters = self._letters_in_front(said)
        if letters is not None and self._continues_ratio(ahead):
            return None, False
        words = [self.stream.take().text for _ in range(ahead)]
        if any(word.casefold() in _DENYING or "不" in word for word in words):
            raise UnreadableError("what an answer is not")
        colon = self.stream.skip(":") or (says and not self.stream.at("="))
        return letters or node("words", [], " ".join(words).casefold()), colon

    def _letters_in_front(self, words: int) -> Node | None:
        """The product that a single word in front of "=" is, such as ``xy`` and the segment ``AB``; None for others."""
        token = self.stream.peek()
        text = token.text
        if words != 1 or not (text.isascii() and text.isalpha()) or text.casefold() in atoms.SHORT_WORDS:
            return None
        is_figure = text.isupper() and 1 < len(text) <= 4
        is_product = text.islower() and 1 < len(text) <= 3 and not token.in_text
        return product([symbol(letter) for letter in text]) if is_figure or is_product else None

    def _continues_ratio(self, ahead: int) -> bool:
        """Whether the colon after ``ahead`` words is that of ``AB:CD=2:3``."""
        second = self.stream.peek(ahead + 1)
        is_letters = second.kind == "letter" or (second.kind == "word" and second.text.isupper())
        return self.stream.at(":", ahead=ahead) and is_letters and self.stream.at("=", ":", ahead=ahead + 2)

    def _congruence(self, value: Node) -> Node:
        stream = self.stream
        bracketed = stream.skip("(")
        stream.take()
        modulus = self.operand()
        if bracketed:
            stream.expect(")")
        name = ""
        if value.head == "relation" and value.text == "=mod":
            left, value = value.parts
            name = left.text if left.head == "symbol" else ""
        return node("congruence", [value, modulus], name)

    def _union(self) -> Node:
        found = self._ratio()
        while self.stream.at(*atoms.SETS):
            token = self.stream.take()
            head = atoms.SETS[f"\\{token.text}"]
            more = self._ratio()
            if head == "difference":
                found = node(head, [found, more])
            else:
                parts = [*_parts(head, found), *_parts(head, more)]
                found = node(head, sorted(parts, key=lambda part: part.key))
        return found

    def _at_colon(self) -> bool:
        return self.stream.at(":") and self._is_outside_sets()

    def _is_outside_sets(self) -> bool:
        """Whether a colon belongs to a ratio, and not to the condition of a set."""
        return not self.stream.open or self.stream.open[-1] != "\\{"

    def _at_to(self) -> bool:
        """Whether the "to" of "7 to 3" stands here."""
        return (
            self.stream.peek().kind == "word"
            and self.stream.peek().text == "to"
            and self.stream.peek(1).kind == "number"
        )

    def _ratio(self) -> Node:
        if self._is_outside_sets() and (time := read_time(self.stream)) is not None:
            return time
        parts = [self.sum()]
        while self._at_colon() or (is_number(parts[-1]) and self._at_to()):
            self.stream.take()
            parts.append(self.sum())
        return parts[0] if len(parts) == 1 else node("ratio", parts)


def _is_name(token: Token) -> bool:
    return token.kind == "word" and token.text.casefold() not in atoms.SEPARATORS


def _parts(head: str, tree: Node) -> tuple[Node, ...]:
    return tree.parts if tree.head == head else (tree,)
