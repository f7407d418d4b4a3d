"""The ranks of the learner as one: how they meet, and what they tell one another.

One process group serves both kinds of tensor. Those on an accelerator travel by its own library, which takes no others;
those in the host's memory by gloo: numbers that ranks agree on, pickled values, generator states, and what DeepSpeed
has offloaded.
"""

from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor

HOST = "gloo"
ACCELERATORS = {"cuda": "nccl"}
"""Library of each kind of accelerator."""
T = TypeVar("T")


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


def gather(own: T) -> list[T]:
    """Values of every rank, in the order of the ranks. Collective. They are pickled: tensors must be on the host."""
    count = world_size()
    if count == 1:
        return [own]
    everybody: list[Any] = [None] * count
    dist.all_gather_object(everybody, own)
    return everybody


def gather_tensors(own: Tensor) -> list[Tensor]:
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
