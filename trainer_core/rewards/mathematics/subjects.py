"""Names that an answer gives to its parts: the letters of "x = 5" and "y < 3", and the words of "Area: 9"."""

from dataclasses import dataclass

from trainer_core.rewards.mathematics.rebuilding import PROPORTION, is_variable, named
from trainer_core.rewards.mathematics.renaming import bound_letter
from trainer_core.rewards.mathematics.tree import Node

_NOTHING_SAID = {
    "the", "a", "an", "my", "our", "final", "answer", "answers", "ans", "result", "solution", "solutions", "correct",
    "so", "thus", "hence", "therefore", "then", "value", "values", "total", "is", "are", "of", "in", "for", "to", "we",
    "get", "have", "答案", "最终答案", "结果", "解", "解得", "得", "则", "所以", "故",
}  # fmt: skip
_COLLECTIONS = ("set", "tuple", "union")
_VERBS = ("等于", "是", "为")


@dataclass(frozen=True, slots=True)
class Subjects:
    """Names that an answer gives to its parts; none where it names nothing."""

    letters: frozenset[str] = frozenset()
    words: frozenset[str] = frozenset()

    def agree(self, other: "Subjects") -> bool:
        """Whether both may speak of the same: letters are the same letters, words are among the other's."""
        if self.letters and other.letters and self.letters != other.letters:
            return False
        return not (self.words and other.words) or self.words <= other.words or other.words <= self.words


NOTHING = Subjects()


def subjects(tree: Node) -> Subjects:
    """Names in ``tree``. The variable of a set in braces is bound, and no name."""
    match tree.head:
        case "relation":
            return _of_relation(tree)
        case "congruence":
            return Subjects(frozenset([tree.text])) if tree.text else NOTHING
        case "list" | "tuple":
            bound = bound_letter(tree) if tree.head == "list" else None
            parts = [subjects(part) for part in (tree.parts[:-1] if bound else tree.parts)]
            return Subjects(
                frozenset().union(*(part.letters for part in parts)), frozenset().union(*(part.words for part in parts))
            )
    return NOTHING


def _of_relation(tree: Node) -> Subjects:
    name, value = named(tree)
    if name and value.head in _COLLECTIONS and len(name) == 1 and name.isupper():
        return NOTHING  # S = {1, 2} names the set, and no unknown that lies in it
    if name and name.endswith(PROPORTION):
        return NOTHING
    if name and name.startswith("product:"):
        word = "".join(sorted(filter(str.isalpha, name.removeprefix("product:").casefold())))
        return Subjects(frozenset([name]), frozenset([word]))
    if name:
        return Subjects(frozenset([name]))
    if name == "":
        return Subjects(words=frozenset(filter(None, map(_word, tree.parts[0].text.split()))))
    if tree.text in ("=", "~"):
        return NOTHING
    if tree.text == "in" and is_variable(tree.parts[0]):
        return Subjects(frozenset([tree.parts[0].text]))
    places = tree.parts[1:2] if len(tree.parts) == 3 else tree.parts
    letters = [one.text for one in map(_without_bars, places) if is_variable(one)]
    return Subjects(frozenset(letters)) if len(letters) == 1 else NOTHING


def _without_bars(tree: Node) -> Node:
    return tree.parts[0] if tree.head == "call" and tree.text == "abs" else tree


def _word(word: str) -> str:
    for verb in _VERBS:
        word = word.removesuffix(verb)
    if len(word) == 2 and word not in _NOTHING_SAID:
        return "".join(sorted(word))  # the segment BA is the segment AB
    return "" if word in _NOTHING_SAID else word.removesuffix("s")
