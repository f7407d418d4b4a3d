"""Time and peak memory of a function in this process, both apart from what other processes of the machine do."""

import ctypes
import gc
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

PAGE = 4096


def cpu_seconds(function: Callable[[], Any]) -> float:
    """Processor time of one call, over all threads of the process."""
    start = time.process_time()
    function()
    return time.process_time() - start


def in_turns(functions: Mapping[str, Callable[[], Any]], rounds: int, warm: int = 1) -> dict[str, float]:
    """Median processor time of each, called in turns so that other work on the machine meets all alike."""
    taken: dict[str, list[float]] = {name: [] for name in functions}
    for turn in range(warm + rounds):
        for name, function in functions.items():
            seconds = cpu_seconds(function)
            if turn >= warm:
                taken[name].append(seconds)
    return {name: sorted(values)[len(values) // 2] for name, values in taken.items()}


def peak_bytes(function: Callable[[], Any], device: str = "cpu") -> int:
    """Most memory during one call beyond what there was before it: resident, or allocated on a card.

    A learner's update sets the card's own high-water mark back: on a card, ``function`` returns the most bytes that its
    updates told, or None.
    """
    gc.collect()
    if device != "cpu":
        return _peak_on_card(function, device)
    # What the allocator holds back would hide the first part of the growth.
    ctypes.CDLL(None).malloc_trim(0)
    before = most = _resident()
    done = threading.Event()

    def watch() -> None:
        nonlocal most
        while not done.wait(0.002):
            most = max(most, _resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        function()
    finally:
        done.set()
        watcher.join()
    return most - before


def told_peak(metrics: Mapping[str, float]) -> float:
    """Bytes that an update says it had on its card; 0 where it computes elsewhere."""
    return metrics.get("perf/learner_memory_max", 0.0) * (1 << 30)


def _peak_on_card(function: Callable[[], Any], device: str) -> int:
    import torch

    torch.cuda.synchronize(device)
    torch.cuda.reset_peak_memory_stats(device)
    before = torch.cuda.memory_allocated(device)
    told = function() or 0
    torch.cuda.synchronize(device)
    return max(int(told), torch.cuda.max_memory_allocated(device)) - before


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE
