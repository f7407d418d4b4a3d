"""Communication between the ranks of the learner: joining the process group, and collectives.

One process group serves both kinds of tensor. Tensors on an accelerator are sent with its own library, which accepts no
others. Tensors in host memory are sent with gloo: numbers that ranks agree on, pickled values, generator states, and
what DeepSpeed has offloaded.

Ranks that split the tokens of their micro-batches (``share_context``) have the same trajectories, so only one of them
reports results about these.
"""

from dataclasses import dataclass
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

HOST = "gloo"
ACCELERATORS = {"cuda": "nccl"}
"""Communication library of each kind of accelerator."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ContextGroup:
    """Ranks that split the tokens of every micro-batch, and this rank's position among them."""

    size: int = 1
    index: int = 0
    group: Any = None
    """Process group of these ranks; None if there is only one."""


ALONE = ContextGroup()


class _Joined:
    """The context group that this process is in."""

    context = ALONE


def backend(device: torch.device) -> str:
    """Backend string for ``torch.distributed``, for ranks whose policies are on ``device``."""
    own = ACCELERATORS.get(device.type)
    return HOST if own is None else f"cpu:{HOST},{device.type}:{own}"


def join(rank: int, world_size: int, init_method: str | None, device: torch.device) -> None:
    """Join the learner's process group unless this process is in one already.

    Raises:
        ValueError: there are several ranks and no ``init_method``.
    """
    if dist.is_initialized():
        return
    if init_method is not None:
        dist.init_process_group(backend(device), init_method=init_method, rank=rank, world_size=world_size)
    elif world_size == 1:
        # A single rank needs no rendezvous, so no port is opened.
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
    """Let each run of ``size`` consecutive ranks split its tokens from now on. Collective.

    Args:
        size: number of ranks in a context group; must divide the world size.
        device: the device of the policies.

    Raises:
        ValueError: the ranks cannot be divided into groups of that size.
    """
    count = world_size()
    if size < 1 or count % size:
        raise ValueError(f"{count} ranks cannot be split into context groups of {size}: choose a divisor of {count}")
    _Joined.context = ALONE
    if size > 1:
        for first in range(0, count, size):
            # Every rank must take part in creating every group.
            group = dist.new_group(list(range(first, first + size)), backend=backend(device))
            if first <= rank() < first + size:
                _Joined.context = ContextGroup(size, rank() - first, group)
    return _Joined.context


def data_groups() -> int:
    """Number of groups of ranks with their own trajectories. Without a shared context, each rank is a group."""
    return world_size() // _Joined.context.size


def data_rank() -> int:
    """Index of this rank's group, which is the index of its values in the result of ``gather``."""
    return rank() // _Joined.context.size


def tells() -> bool:
    """Whether this rank's results about its trajectories count. In a context group, only one rank's do."""
    return _Joined.context.index == 0


def gather(own: T) -> list[T]:
    """Values of every data-parallel group, in order, each from the group's first rank. Collective over all ranks.

    Values are pickled, so tensors must be on the host.
    """
    return gather_values_from_ranks(own)[:: _Joined.context.size]


def gather_values_from_ranks(own: T) -> list[T]:
    """Values of every rank, in rank order. Collective. They are pickled, so tensors must be on the host."""
    count = world_size()
    if count == 1:
        return [own]
    everybody: list[Any] = [None] * count
    dist.all_gather_object(everybody, own)
    return everybody


def gather_tensors(own: Tensor) -> list[Tensor]:
    """Tensors of all data-parallel groups, in order. They have the same shape, type and kind of device. Collective."""
    return gather_from_ranks(own)[:: _Joined.context.size]


def gather_from_ranks(own: Tensor) -> list[Tensor]:
    """Tensors of all ranks, in rank order. They have the same shape, type and kind of device. Collective."""
    count = world_size()
    if count == 1:
        return [own]
    everybody = [torch.empty_like(own) for _ in range(count)]
    dist.all_gather(everybody, own)
    return everybody


def largest(number: int) -> int:
    """Maximum of ``number`` over the ranks. Collective."""
    if world_size() == 1:
        return number
    found = torch.tensor(number)
    dist.all_reduce(found, dist.ReduceOp.MAX)
    return int(found)


def add_up(tensor: Tensor) -> None:
    """Sum ``tensor`` over the ranks, in place. Collective."""
    if world_size() > 1:
        dist.all_reduce(tensor)


def add_up_groups(tensor: Tensor) -> None:
    """Sum ``tensor`` over the data-parallel groups, in place. A group's ranks have the same tensor. Collective."""
    if not tells():
        tensor.zero_()
    add_up(tensor)
