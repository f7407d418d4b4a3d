"""Identity of rational functions, decided by their residues; only ever calculated in the jail.

Two quotients of polynomials that agree at random points modulo a random prime of 127 bits are the same: another pair
agrees with a chance below one in 10^30. Neither sizes nor digits matter: 10^20000 x is calculated as easily as x.
"""

import hashlib
import random
from collections.abc import Mapping
from dataclasses import dataclass

from trainer_core.rewards.mathematics.tree import Node

_BITS = 127
_POINTS = 3
_WITNESSES = (2, 3, 5, 7)
_CONSTANTS = ("$pi", "$e")
"""Transcendental constants: any number may stand for them, but the same one at all points, as they may be factors."""


class _NoResidue(Exception):
    """A quotient whose denominator vanishes."""


@dataclass(frozen=True, slots=True)
class Residues:
    """Residues of two expressions at the same points; None where one of them has a vanishing denominator."""

    gold: tuple[int | None, ...]
    answer: tuple[int | None, ...]
    prime: int
    certain: bool
    """Whether different residues mean different expressions: not where parts are no rational functions."""

    @property
    def equal(self) -> bool:
        """Whether they are the same rational function of their parts."""
        return None not in self.gold and self.gold == self.answer

    @property
    def proportional(self) -> bool:
        """Whether the answer is a constant multiple of the gold one, and neither is nothing."""
        ratios = set()
        for ours, theirs in zip(self.gold, self.answer, strict=True):
            if not ours or not theirs:
                return False
            ratios.add(theirs * pow(ours, -1, self.prime) % self.prime)
        return len(ratios) == 1


def residues(gold: Node, answer: Node) -> Residues | None:
    """Residues of both, with parts that are no rational functions as variables of their own.

    None where these say nothing: the answer has such parts that the gold one lacks, whose values may not exist.
    """
    ours, theirs = _atoms(gold), _atoms(answer)
    if any(not key.startswith("$") for key in theirs - ours):
        return None
    chance = seeded(gold, answer)
    prime = _prime(chance)
    constants = {key: chance.randrange(1, prime) for key in _CONSTANTS}
    found: tuple[list[int | None], list[int | None]] = ([], [])
    for _ in range(_POINTS):
        point = {key: chance.randrange(1, prime) for key in sorted(ours | theirs)} | constants
        point["$i"] = _root_of_minus_one(prime)
        for tree, values in zip((gold, answer), found, strict=True):
            try:
                values.append(_residue(tree, point, prime))
            except _NoResidue:
                values.append(None)
    certain = all(key.startswith("$") for key in ours | theirs)
    return Residues(tuple(found[0]), tuple(found[1]), prime, certain)


def seeded(*trees: Node) -> random.Random:
    """Chance that depends on the trees alone: always the same for them, and nothing an answer can be fitted to."""
    return random.Random(hashlib.sha256("\n".join(tree.key for tree in trees).encode()).digest())


def _atoms(tree: Node) -> set[str]:
    """Keys of the largest parts that are no sums, products and whole powers; letters are among them."""
    found, waiting = set(), [tree]
    while waiting:
        one = waiting.pop()
        if one.head in ("sum", "product"):
            waiting += one.parts
        elif one.head == "power" and _is_whole(one.parts[1]):
            waiting.append(one.parts[0])
        elif one.head == "symbol" or (one.head == "call" and one.text.startswith("of ")):
            found.add("$" + one.text if one.head == "symbol" else "$" + one.key)
        elif one.head != "number":
            found.add(one.key)
    return found - {"$i"}


def _is_whole(exponent: Node) -> bool:
    return exponent.head == "number" and exponent.value.denominator == 1


def _residue(tree: Node, point: Mapping[str, int], prime: int) -> int:
    match tree.head:
        case "number":
            return tree.value.numerator * _inverse(tree.value.denominator, prime) % prime
        case "sum":
            return sum(_residue(part, point, prime) for part in tree.parts) % prime
        case "product":
            found = 1
            for part in tree.parts:
                found = found * _residue(part, point, prime) % prime
            return found
        case "power" if _is_whole(tree.parts[1]):
            base, exponent = _residue(tree.parts[0], point, prime), tree.parts[1].value.numerator
            return pow(base if exponent >= 0 else _inverse(base, prime), abs(exponent), prime)
        case "symbol":
            return point["$" + tree.text]
        case "call" if tree.text.startswith("of "):
            return point["$" + tree.key]
    return point[tree.key]


def _inverse(value: int, prime: int) -> int:
    if value % prime == 0:
        raise _NoResidue
    return pow(value, -1, prime)


def _prime(chance: random.Random) -> int:
    """A prime that leaves 1 when divided by 4, so that −1 has a root."""
    while True:
        candidate = chance.getrandbits(_BITS) | (1 << (_BITS - 1)) | 3
        candidate -= 2
        if all(pow(witness, candidate - 1, candidate) == 1 for witness in _WITNESSES):
            return candidate


def _root_of_minus_one(prime: int) -> int:
    for base in range(2, prime):
        root = pow(base, (prime - 1) // 4, prime)
        if root * root % prime == prime - 1:
            return root
    raise AssertionError(prime)
