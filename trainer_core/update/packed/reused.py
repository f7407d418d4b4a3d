"""Results that a layer's second computation reuses from its first, if activations are recomputed.

Activation checkpointing computes a layer a second time for its backward pass. Results that are expensive to compute and
cheap to store, such as attention's output, are stored the first time:

    forward   ─► attention computed ──► kept, in order
    recompute ─► attention not computed ◄── taken, in order
"""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, slots=True)
class Reused:
    """Tensors of one result."""

    tensors: tuple[Tensor, ...]
    """Tensors that the backward pass needs, the result itself first."""
    others: tuple[Tensor, ...] = ()
    """Small tensors that it also needs."""


@dataclass(frozen=True, slots=True)
class _Computation:
    """One of the two computations of a layer."""

    kept: deque[Reused]
    again: bool


_turn: ContextVar[_Computation | None] = ContextVar("turn", default=None)


def both_turns() -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
    """Contexts of a layer's two computations, for the ``context_fn`` of ``torch.utils.checkpoint``."""
    kept: deque[Reused] = deque()
    return _open(_Computation(kept, again=False)), _open(_Computation(kept, again=True))


def take_turn(compute: Callable[[], Reused]) -> Reused:
    """Result of ``compute``; in a layer's second computation, the result of the first."""
    turn = _turn.get()
    if turn is None:
        return compute()
    if turn.again:
        return turn.kept.popleft()
    found = compute()
    # Detached from the tensors that are returned: those will reference the graph, which would then never be freed.
    turn.kept.append(Reused(tuple(one.detach() for one in found.tensors), found.others))
    return found


@contextmanager
def _open(turn: _Computation) -> Iterator[None]:
    before = _turn.set(turn)
    try:
        yield
    finally:
        _turn.reset(before)
