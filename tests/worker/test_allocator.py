"""Memory that stays with a process."""

import subprocess
import sys

import pytest

PROGRAM = """
import resource
from worker.cluster.allocator import keep_freed_memory

if {keep} and not keep_freed_memory():
    print("unknown")
    raise SystemExit
for turn in range(2):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    blocks = [bytearray(20 << 20) for _ in range(8)]
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
    del blocks
print(faults)
"""
PAGES = 8 * (20 << 20) // 4096


@pytest.mark.parametrize(("keep", "fetched_again"), [(True, False), (False, True)])
def test_freed_blocks_are_used_again_without_fetching_their_pages(keep: bool, fetched_again: bool) -> None:
    """The second turn finds the blocks of the first; without the setting it fetches every page anew."""
    command = [sys.executable, "-c", PROGRAM.format(keep=keep)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    if told == "unknown":
        pytest.skip("this C library has no mallopt")
    assert (int(told) > PAGES / 2) is fetched_again
