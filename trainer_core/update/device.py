"""The device that models compute on: which one it is, the way to it, and the end of what it was told to do.

An accelerator works on while Python goes on: a clock that does not wait for it with ``settle`` measures how long it
took to say what is to be done.
"""

import torch
from torch import Tensor


def local_rank(rank: int) -> int:
    """Number of this rank's GPU among those that its process sees: 0 where it sees one, as Ray shows it, or none."""
    return rank % max(1, torch.cuda.device_count())


def claim(name: str, rank: int) -> torch.device:
    """The device ``name`` as this process numbers it, which allocations and collectives use by default from now on.

    Args:
        name: such as ``cpu``, ``cuda`` or ``cuda:1``.
        rank: the rank of this process, which chooses among several GPUs where the name has no number.
    """
    device = torch.device(name)
    if device.type != "cuda":
        return device
    device = torch.device("cuda", local_rank(rank) if device.index is None else device.index)
    torch.cuda.set_device(device)
    return device


def move(tensor: Tensor, device: torch.device) -> Tensor:
    """``tensor`` on ``device``; itself when it is there.

    From the host's memory a GPU reads through page-locked memory while Python goes on: whatever the GPU does next comes
    after it, and torch keeps the page-locked copy until it has been read.
    """
    if device.type == "cuda" and tensor.device.type == "cpu":
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)


def host_copy(tensor: Tensor, *, pinned: bool) -> Tensor:
    """A copy in the host's memory, to be brought back to the same device by ``move`` and read by nobody else.

    Args:
        tensor: on any device.
        pinned: whether the copy is page-locked; then the device writes to it while Python goes on.
    """
    host = torch.empty(tensor.shape, dtype=tensor.dtype, device="cpu", pin_memory=pinned)
    return host.copy_(tensor, non_blocking=pinned)


def settle(device: torch.device) -> None:
    """Wait until ``device`` has done all that it was told to."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def take_peak(device: torch.device) -> int | None:
    """Most bytes that tensors of this process had on ``device`` since the last call; None for the host's memory."""
    if device.type != "cuda":
        return None
    most = torch.cuda.max_memory_allocated(device)
    torch.cuda.reset_peak_memory_stats(device)
    return most
