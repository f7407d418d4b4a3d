"""The device that models compute on: choosing it, moving tensors to it, and waiting for it.

An accelerator works asynchronously. A timer that does not wait for it with ``settle`` only measures how long it took to
queue the work.
"""

import torch
from torch import Tensor


def local_rank(rank: int) -> int:
    """Index of this rank's GPU among those that its process sees; 0 if it sees one, as under Ray, or none."""
    return rank % max(1, torch.cuda.device_count())


def claim(name: str, rank: int) -> torch.device:
    """The device ``name`` as this process numbers it. Allocations and collectives use it by default from now on.

    Args:
        name: such as ``cpu``, ``cuda`` or ``cuda:1``.
        rank: the rank of this process; chooses among several GPUs if the name has no number.
    """
    device = torch.device(name)
    if device.type != "cuda":
        return device
    device = torch.device("cuda", local_rank(rank) if device.index is None else device.index)
    torch.cuda.set_device(device)
    return device


def move(tensor: Tensor, device: torch.device) -> Tensor:
    """``tensor`` on ``device``; ``tensor`` itself if it is already there.

    A GPU reads from host memory through page-locked memory while Python continues. Later work on the GPU runs after the
    copy, and torch keeps the page-locked copy until it has been read.
    """
    if device.type == "cuda" and tensor.device.type == "cpu":
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)


def host_copy(tensor: Tensor, *, pinned: bool) -> Tensor:
    """A copy in host memory, to be moved back to the same device by ``move``. Nothing else may read it.

    Args:
        tensor: on any device.
        pinned: whether the copy is page-locked; then the device writes to it while Python continues.
    """
    host = torch.empty(tensor.shape, dtype=tensor.dtype, device="cpu", pin_memory=pinned)
    return host.copy_(tensor, non_blocking=pinned)


def settle(device: torch.device) -> None:
    """Wait until ``device`` has finished all queued work."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def take_peak(device: torch.device) -> int | None:
    """Peak bytes of this process's tensors on ``device`` since the last call; None for host memory."""
    if device.type != "cuda":
        return None
    most = torch.cuda.max_memory_allocated(device)
    torch.cuda.reset_peak_memory_stats(device)
    return most
