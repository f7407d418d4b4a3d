"""A machine that others use: processes beside that compute without end."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_SPIN = """
import os, sys
parent = int(sys.argv[1])
print("spinning", flush=True)
while os.getppid() == parent:
    for _ in range(1_000_000):
        pass
"""


@contextmanager
def busy(count: int) -> Iterator[None]:
    """``count`` processes that compute while the block runs, at the priority of this one.

    Each is a session of its own: the kernel may give sessions equal shares, and then many processes of one session
    would be no more load than one. They end with this process, too.
    """
    command = [sys.executable, "-I", "-S", "-c", _SPIN, str(os.getpid())]
    spinning: list[subprocess.Popen[bytes]] = []
    try:
        for _ in range(count):
            spinning.append(subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True))
        for process in spinning:
            if process.stdout is None or process.stdout.readline() != b"spinning\n":
                raise RuntimeError(f"process {process.pid} has not begun to compute")
        yield
    finally:
        for process in spinning:
            process.kill()
        for process in spinning:
            process.wait()
            if process.stdout is not None:
                process.stdout.close()
