"""The ranks of the learner as one: how they meet, and what they tell one another.

One process group serves both kinds of tensor. Those on an accelerator travel by its own library, which takes no others;
those in the host's memory by gloo: numbers that ranks agree on, pickled values, generator states, and what DeepSpeed
has offloaded.

Ranks that share out the tokens of their micro-batches (``share_context``) have the same trajectories: what they find
out about them is told once.
"""

from dataclasses import dataclass
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

HOST = "gloo"
ACCELERATORS = {"cuda": "nccl"}
"""Library of each kind of accelerator."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ContextGroup:
    """Ranks that share out the tokens of every micro-batch, and this rank's place among them."""

    size: int = 1
    index: int = 0
    group: Any = None
    """Process group of these ranks, or None where there is one."""


ALONE = ContextGroup()


class _Joined:
    """The context group that this process is in."""

    context = ALONE


def backend(device: torch.device) -> str:
    """Backends of the group of ranks whose policies are on ``device``, as ``torch.distributed`` reads them."""
    own = ACCELERATORS.get(device.type)
    return HOST if own is None else f"cpu:{HOST},{device.type}:{own}"


def join(rank: int, world_size: int, init_method: str | None, device: torch.device) -> None:
    """Join the learner's process group unless this process is in one already.

    Raises:
        ValueError: several ranks without a place to meet.
    """
    if dist.is_initialized():
        return
    if init_method is not None:
        dist.init_process_group(backend(device), init_method=init_method, rank=rank, world_size=world_size)
    elif world_size == 1:
        # One rank meets nobody: no port is opened.
        dist.init_process_group(backend(device), store=dist.HashStore(), rank=0, world_size=1)
    else:
        raise ValueError(f"{world_size} ranks need an init_method")


def rank() -> int:
    """Rank of this process; 0 outside of a group."""
    return dist.get_rank() if dist.is_initialized() else 0


def world_size() -> int:
    """Number of ranks; 1 outside of a group."""
    return dist.get_world_size() if dist.is_initialized() else 1


def share_context(size: int, device: torch.device) -> ContextGroup:
    """Have every ``size`` ranks in a row share out their tokens from now on. Collective.

    Args:
        size: number of ranks of a context group, a divisor of their whole number.
        device: where the policies are.

    Raises:
        ValueError: the ranks cannot be cut into groups of that size.
    """
    count = world_size()
    if size < 1 or count % size:
        raise ValueError(f"{count} ranks cannot be cut into context groups of {size}: choose a divisor of {count}")
    _Joined.context = ALONE
    if size > 1:
        for first in range(0, count, size):
            # Every rank has to take part in the making of every group.
            group = dist.new_group(list(range(first, first + size)), backend=backend(device))
            if first <= rank() < first + size:
                _Joined.context = ContextGroup(size, rank() - first, group)
    return _Joined.context


def data_groups() -> int:
    """Number of groups of ranks that have trajectories of their own: every rank is one without a shared context."""
    return world_size() // _Joined.context.size


def data_rank() -> int:
    """Number of the group that this rank is in, which is the place of its values in what ``gather`` gives."""
    return rank() // _Joined.context.size


def tells() -> bool:
    """Whether what this rank finds out about its trajectories counts: that of one rank of a context group does."""
    return _Joined.context.index == 0


def gather(own: T) -> list[T]:
    """Values of every data-parallel group, in their order: those of its first rank. Collective over all ranks.

    They are pickled: tensors must be on the host.
    """
    return gather_values_from_ranks(own)[:: _Joined.context.size]


def gather_values_from_ranks(own: T) -> list[T]:
    """Values of every rank, in the order of the ranks. Collective. They are pickled: tensors must be on the host."""
    count = world_size()
    if count == 1:
        return [own]
    everybody: list[Any] = [None] * count
    dist.all_gather_object(everybody, own)
    return everybody


def gather_tensors(own: Tensor) -> list[Tensor]:
    """Tensors of one shape, type and kind of device of every data-parallel group, in their order. Collective."""
    return gather_from_ranks(own)[:: _Joined.context.size]


def gather_from_ranks(own: Tensor) -> list[Tensor]:
    """Tensors of one shape, type and kind of device of every rank, in the order of the ranks. Collective."""
    count = world_size()
    if count == 1:
        return [own]
    everybody = [torch.empty_like(own) for _ in range(count)]
    dist.all_gather(everybody, own)
    return everybody


def largest(number: int) -> int:
    """The largest number that any rank has. Collective."""
    if world_size() == 1:
        return number
    found = torch.tensor(number)
    dist.all_reduce(found, dist.ReduceOp.MAX)
    return int(found)


def add_up(tensor: Tensor) -> None:
    """Make ``tensor`` the sum over the ranks, where it is. Collective."""
    if world_size() > 1:
        dist.all_reduce(tensor)


def add_up_groups(tensor: Tensor) -> None:
    """Make ``tensor`` the sum over the data-parallel groups, whose ranks have the same one each. Collective."""
    if not tells():
        tensor.zero_()
    add_up(tensor)
