"""One slot of the jail: a zygote, and at most one job in it at a time."""

import array
import importlib.util
import json
import os
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trainer_core.rewards.graders.jail import JailError, Limits
from worker.sandbox.guest import LIMITS, NO_LIMIT
from worker.sandbox.job_run import JobRun
from worker.sandbox.zygote import SOURCES

_START_S = 180.0
"""SymPy takes seconds to load; on a busy machine, a minute."""
_ANSWER_S = 10.0
_PACKAGES = "/packages"
_SOURCES = Path(__file__).resolve().parents[2]
_COMMAND = (
    "import sys; sys.path.insert(0, sys.argv[3]); from worker.sandbox.zygote import enclose, start; start(enclose)"
)
# fmt: off
STANDARD_MODULES = (
    "ast", "bisect", "builtins", "collections", "collections.abc", "copy", "dataclasses", "datetime", "decimal",
    "enum", "fractions", "functools", "heapq", "io", "itertools", "json", "math", "operator", "random", "re",
    "statistics", "string", "sys", "time", "traceback", "typing",
)
# fmt: on


@dataclass(frozen=True, slots=True)
class Loaded:
    """Modules and packages that a zygote provides."""

    preload: tuple[str, ...] = STANDARD_MODULES
    packages: bool = False
    """The installed packages can be imported, and SymPy has been used once."""
    libraries: tuple[str, ...] = ("numpy",)
    """Packages besides the standard library that can be imported if they are installed."""


class Slot:
    """A slot for one job at a time. Not thread-safe.

    An interrupted job leaves no process behind, and the next one gets a fresh zygote.
    """

    def __init__(self, loaded: Loaded) -> None:
        self._loaded = loaded
        self._link: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the zygote, if there is none. Raises JailError with the kernel's reason."""
        if self._process is not None and self._process.poll() is None:
            return
        self.close()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        options = {"preload": self._loaded.preload, "sympy": self._loaded.packages, **_places(self._loaded)}
        arguments = [str(theirs.fileno()), json.dumps(options), str(_SOURCES)]
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _COMMAND, *arguments],
                pass_fds=[theirs.fileno()],
                env={"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
        self._link = ours
        ours.settimeout(_START_S)
        try:
            ready = ours.recv(4096)
        except OSError as error:
            ready = f"E{error}".encode()
        except BaseException:
            self.close()  # interrupted: the next job starts a fresh zygote
            raise
        if ready != b"R":
            assert self._process.stderr is not None
            reason = ready[1:].decode(errors="replace") or "it ended"
            self._process.kill()
            text = self._process.stderr.read().decode(errors="replace").strip()[-400:]
            self.close()
            raise JailError(f"the jail cannot start: {reason}{f' ({text})' if text else ''}")

    def begin(self, job: Mapping[str, Any], limits: Limits, channel: socket.socket | None = None) -> JobRun:
        """Start a job. The caller drives the run to its end. ``channel`` is closed here.

        Raises:
            JailError: the zygote does not answer.
        """
        self.start()
        assert self._link is not None
        pipes = [os.pipe() for _ in range(4)]  # job, output, errors, result
        given = [pipes[0][0], pipes[1][1], pipes[2][1], pipes[3][1]]
        if channel is not None:
            given.append(channel.detach())
        kept = [pipes[0][1], pipes[1][0], pipes[2][0], pipes[3][0]]
        try:
            self._link.settimeout(_ANSWER_S)
            rights = array.array("i", given)
            head = _packed(limits)
            self._link.sendmsg([b"J", head], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
            message, ancillary, _, _ = self._link.recvmsg(4096, socket.CMSG_SPACE(2 * 4))
            if message != b"P" or not ancillary:
                raise OSError(message[1:].decode(errors="replace") or "it has ended")
        except BaseException as error:
            for descriptor in kept:
                os.close(descriptor)
            self.close()
            if isinstance(error, OSError):
                raise JailError(f"the jail failed: {error}") from error
            raise
        finally:
            for descriptor in given:
                os.close(descriptor)
        handles = array.array("i", ancillary[0][2][:8])
        return JobRun(self._link, handles, kept, json.dumps(dict(job)).encode(), limits, self.close)

    def close(self) -> None:
        """End the zygote, and with it everything that runs in it."""
        if self._link is not None:
            self._link.close()
            self._link = None
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            if self._process.stderr is not None:
                self._process.stderr.close()
            self._process = None


def _packed(limits: Limits) -> bytes:
    """Limits that the kernel enforces on a job. The supervisor's own time limits are more exact; these back them up."""
    memory = limits.memory_mb << 20 if limits.address_space else NO_LIMIT
    seconds = limits.wall_s if limits.cpu_s is None else limits.cpu_s
    return LIMITS.pack(memory, int(seconds) + 2, limits.processes)


def _places(loaded: Loaded) -> dict[str, Any]:
    """Folders that the jail shows, and their paths in it: none has the same name as on the host."""
    prefix = os.path.realpath(sys.base_prefix)
    at = prefix if prefix.startswith("/usr") and not prefix.startswith("/usr/local") else "/python"
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    shown = {f"{SOURCES}/{part}": str(_SOURCES / part) for part in ("worker/sandbox", "trainer_core")}
    if at != prefix:
        shown[at] = prefix
    if loaded.packages:
        import sympy  # type: ignore[import-untyped]

        shown[_PACKAGES] = str(Path(sympy.__file__).resolve().parents[1])
    else:
        shown |= _parts(loaded.libraries)
    shared = bool(sysconfig.get_config_var("Py_ENABLE_SHARED"))
    return {
        "shown": shown,
        "covered": f"{at}/lib/{version}/site-packages" if at != prefix else "",
        "paths": [_PACKAGES],
        "interpreter": f"{at}/bin/{version}",
        "libraries": f"{at}/lib" if shared and at != prefix else "",
    }


def _parts(libraries: Sequence[str]) -> dict[str, str]:
    """Folders and files of installed packages, and the libraries that their wheels include."""
    found = {}
    for name in libraries:
        spec = importlib.util.find_spec(name)
        places = [] if spec is None else [*(spec.submodule_search_locations or [str(spec.origin)])]
        for place in places:
            for path in (Path(place), Path(f"{place}.libs")):
                if path.exists():
                    found[f"{_PACKAGES}/{path.name}"] = str(path.resolve())
    return found
