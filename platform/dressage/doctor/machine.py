"""Faults of the machine: Python, packages, memory, disk, ports, jail."""

import resource
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from dressage.doctor.fault import Fault
from dressage.doctor.place import GIB, Place

LOCKED_PYTHON = (3, 11)
"""The Python that the locked builds of torch and vLLM are made for."""


def python_version(place: Place) -> Iterator[Fault]:
    """The lock files are made for one Python version."""
    if place.python != LOCKED_PYTHON:
        found = ".".join(map(str, place.python))
        yield Fault(
            "python-version",
            f"This is Python {found}; the locked packages are built for 3.11.",
            "Run the doctor with .venv/bin/python. If that is another Python too, remove .venv and set "
            "PYTHON=/path/to/python3.11 for `make demo`.",
        )


def packages(place: Place) -> Iterator[Fault]:
    """The installed packages match the lock file."""
    lock = place.root / "requirements" / ("cuda.lock" if _version("vllm") else "runtime.lock")
    wanted = dict(line.split("==", 1) for line in _pins(lock))
    differing = []
    for name, pinned in wanted.items():
        found = _version(name) or ("missing" if place.computes else pinned)
        if found.partition("+")[0] != pinned.partition("+")[0]:
            differing.append(f"{name} {found} instead of {pinned}")
    if differing:
        more = f" and {len(differing) - 5} more" if len(differing) > 5 else ""
        yield Fault(
            "packages-differ",
            f"Installed packages differ from {lock.name}: {', '.join(differing[:5])}{more}.",
            "Run scripts/setup.sh, which installs the lock; `make demo` does it first.",
        )


def _version(name: str) -> str | None:
    """Version of an installed package; None if it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _pins(lock: Path) -> Iterator[str]:
    for line in lock.read_text().splitlines() if lock.is_file() else ():
        if "==" in line and not line.startswith((" ", "#")):
            pin, _, marker = line.partition(";")
            if not marker:
                yield pin.split("\\")[0].strip().partition(" ")[0]


def console(place: Place) -> Iterator[Fault]:
    """The console is built."""
    if not (place.root / "frontend" / "dist" / "index.html").is_file():
        yield Fault(
            "console-not-built",
            f"{place.root / 'frontend' / 'dist'} has no console: pages answer 503.",
            "Run scripts/setup.sh, which builds it.",
        )


def home(place: Place) -> Iterator[Fault]:
    """The data folder is writable, on a disk with enough free space."""
    folder = place.config.home
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b"x")
            probe.flush()
    except OSError as error:
        yield Fault(
            "home-not-writable",
            f"DRESSAGE_HOME={folder} cannot be written: {error.strerror}.",
            "Give the folder to the user that runs Dressage, or set DRESSAGE_HOME to a folder that it may write.",
        )
        return
    disk = shutil.disk_usage(folder)
    if disk.total < place.disk_bytes:
        yield Fault(
            "disk-too-small",
            f"The disk of {folder} has {disk.total / GIB:.1f} GiB; at least {place.disk_bytes / GIB:.0f} GiB are"
            " needed.",
            "Put DRESSAGE_HOME on a larger disk: each checkpoint is as large as the policy and its optimizer.",
        )
    elif disk.free < place.free_share * disk.total:
        yield Fault(
            "disk-nearly-full",
            f"The disk of {folder} has {disk.free / GIB:.1f} of {disk.total / GIB:.1f} GiB free.",
            "Archive or delete runs, keep fewer checkpoints, or enlarge the disk: runs pause when it is full.",
        )


def shared_memory(place: Place) -> Iterator[Fault]:
    """Ray keeps its objects in shared memory, and weights are transferred through it."""
    if not place.computes:
        return
    try:
        size = shutil.disk_usage(place.shared_memory).total
    except OSError:
        size = 0
    if size < place.shared_bytes:
        yield Fault(
            "shared-memory-too-small",
            f"{place.shared_memory} has {size / GIB:.2f} GiB; {place.shared_bytes / GIB:.0f} GiB are the least.",
            "Give a container more: --shm-size for Docker, an emptyDir with medium Memory for Kubernetes.",
        )


def descriptors(place: Place) -> Iterator[Fault]:
    """Each browser and each connection needs a descriptor."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < place.descriptors:
        yield Fault(
            "few-descriptors",
            f"A process may open {soft} files; many browsers and Ray need at least {place.descriptors}.",
            f"Run `ulimit -n {place.descriptors}` before starting, or set LimitNOFILE of the service.",
            "warning",
        )


def port(place: Place) -> Iterator[Fault]:
    """The web server's port is free, or in use by us."""
    host, number = place.config.local_address
    if place.is_up or _is_ours(host, number, place.patience_s):
        return
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, number))
        except OSError as error:
            yield Fault(
                "port-taken",
                f"Port {number} on {host} is not available: {error.strerror}.",
                "Stop the process that listens there (`ss -ltnp` shows it), or set DRESSAGE_PORT to a free port.",
            )


def _is_ours(host: str, port: int, patience_s: float) -> bool:
    """Whether a web process of Dressage answers there."""
    try:
        with closing(HTTPConnection(host, port, timeout=patience_s)) as connection:
            connection.request("GET", "/health/live")
            return b'"live"' in connection.getresponse().read(200)
    except (OSError, HTTPException):
        return False


def jail(place: Place) -> Iterator[Fault]:
    """Graders that run code need namespaces of their own, seccomp and Landlock."""
    if not place.computes:
        return
    try:
        done = subprocess.run(place.jail, cwd=place.root, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        reason, held = str(error), False
    else:
        reason, held = (done.stdout or done.stderr).strip()[-300:], done.returncode == 0
    if not held:
        yield Fault(
            "no-jail",
            f"Code of models cannot be graded on this machine: {reason}",
            "Allow user namespaces (kernel.unprivileged_userns_clone=1, user.max_user_namespaces > 0, and on Ubuntu"
            " kernel.apparmor_restrict_unprivileged_userns=0); in a container allow them in its seccomp profile."
            " Rewards that run no code work without it.",
            "warning",
        )
