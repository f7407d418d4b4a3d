"""Commands that run in a network of their own, with all that they start: namespaces end with their first process."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from tempfile import TemporaryDirectory

import psutil

from tests.support.installation import ROOT

INSIDE = "DRESSAGE_TESTS_NETWORK"
"""Variable by which a command knows where its nodes meet: in a network of its own, or on the loopback."""
OWN, LOOPBACK = "own", "loopback"
MARK = "DRESSAGE_TESTS_NODE"
"""Variable that names the folder of a cluster and, behind a slash, the node of a process."""
_PROBE = "mount -t tmpfs none /run && ip link add probe type bridge && ip netns add probe && ip link set lo up"


def alone(command: Sequence[str]) -> list[str]:
    """The command in namespaces of its own for networks, processes and mounts.

    It is the first of its processes: when it ends, or is killed, the kernel ends the others and takes bridges, links
    and mounts away. Killing ``unshare`` kills the command. Nobody needs to be root.
    """
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    return ["unshare", *user, "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", *command]


@cache
def refusal() -> str | None:
    """Reason why this machine allows no namespaces; None where it does."""
    try:
        tried = subprocess.run(alone(["sh", "-c", _PROBE]), capture_output=True, text=True, timeout=30)
    except OSError as error:
        return str(error)
    return (tried.stderr.strip().splitlines() or ["it is refused"])[-1] if tried.returncode else None


def run_cases(*places: str, timeout_s: float, network: str = OWN) -> subprocess.CompletedProcess[str]:
    """Run cases of several nodes, as pytest takes their places, in a network of their own or on the loopback.

    Nothing is left of them, however they end: no process, no folder.
    """
    settings = ROOT / "tests" / "cluster" / "cases" / "pytest.ini"
    plugins = [part for plugin in ("cacheprovider", "xdist") for part in ("-p", f"no:{plugin}")]
    # Paths of Ray's sockets must be short.
    with TemporaryDirectory(prefix="nodes-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-c",
            str(settings),
            "-rs",
            *plugins,
            f"--basetemp={folder}/t",
            *places,
        ]
        environment = {**os.environ, INSIDE: network, MARK: folder, "TMPDIR": folder, "PYTHONUNBUFFERED": "1"}
        for variable in ("PYTEST_CURRENT_TEST", "PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT", "RAY_ADDRESS"):
            environment.pop(variable, None)
        try:
            return subprocess.run(
                alone(command) if network == OWN else command,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=timeout_s,
            )
        finally:
            end_all(folder)


def marked(mark: str) -> list[psutil.Process]:
    """Processes, but this one, whose mark begins so."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if process.pid != os.getpid() and process.environ().get(MARK, "").startswith(mark):
                found.append(process)
    return found


def end_all(mark: str, within_s: float = 60.0) -> None:
    """End all processes whose mark begins so, and those that they start meanwhile.

    Raises:
        TimeoutError: some are still there after that time, which names them.
    """
    until = time.monotonic() + within_s
    while doomed := marked(mark):
        for process in doomed:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        _, left = psutil.wait_procs(doomed, timeout=min(10.0, max(0.0, until - time.monotonic())))
        if left and time.monotonic() >= until:
            named = ", ".join(str(process.pid) for process in left)
            raise TimeoutError(f"these processes of {mark} could not be killed within {within_s:g} s: {named}")
