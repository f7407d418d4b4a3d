"""One archive with all that ``make demo`` installs, for machines without a way out: ``make bundle``.

It holds the checkout as it is committed, the built console, and each locked package as a wheel, with a manifest of
digests. ``tar xf`` it on a machine of the same kind with Python 3.11, and call ``make demo``: ``scripts/setup.sh``
checks the digests and installs from ``bundle/wheels`` alone. Node is not needed there.

Only the standard library is used: ``verify`` runs before anything is installed.
"""

import argparse
import hashlib
import json
import platform
import re
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCKS = {"cpu": "runtime.lock", "cuda": "cuda.lock"}
MANIFEST = "bundle/manifest.json"


class BundleError(Exception):
    """The reason why a bundle is not made, or not to be trusted, in a sentence."""


def digest(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def build(accelerator: str, target: Path, wheels: Path | None = None) -> Path:
    """Make the archive.

    Args:
        accelerator: ``cpu`` or ``cuda``: which lock's packages are taken.
        target: folder that gets the archive.
        wheels: folder in which they already are; by default the package index is asked for them.

    Returns:
        The archive's path.

    Raises:
        BundleError: there are changes that are not committed, the console is not built, or a wheel is missing.
    """
    if _git("status", "--porcelain", "--untracked-files=no"):
        raise BundleError("There are changes that are not committed: the bundle holds what is committed. Commit them.")
    if not (ROOT / "frontend" / "dist" / "index.html").is_file():
        raise BundleError("frontend/dist has no console. Run scripts/setup.sh, which builds it.")
    commit = _git("rev-parse", "HEAD")
    name = f"dressage-{_version()}-{accelerator}-{platform.machine()}"
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target) as work:
        folder = Path(work) / name
        _check_out(folder)
        _copy(ROOT / "frontend" / "dist", folder / "frontend" / "dist")
        _gather(ROOT / "requirements" / LOCKS[accelerator], folder / "bundle" / "wheels", wheels)
        facts = {
            "name": name,
            "commit": commit,
            "accelerator": accelerator,
            "python": "3.11",
            "machine": platform.machine(),
            "files": {str(path.relative_to(folder)): digest(path) for path in _files(folder)},
        }
        (folder / MANIFEST).write_text(json.dumps(facts, indent=1, sort_keys=True))
        archive = target / f"{name}.tar"
        with tarfile.open(archive, "w") as packed:  # wheels are compressed
            packed.add(folder, name)
    return archive


def verify(root: Path = ROOT) -> int:
    """Compare an unpacked bundle with its manifest; the number of files.

    Raises:
        BundleError: a file is missing or differs, or the bundle is for machines of another kind.
    """
    facts = json.loads((root / MANIFEST).read_text())
    if facts["machine"] != platform.machine():
        raise BundleError(f"This bundle is for {facts['machine']}; this machine is {platform.machine()}.")
    for name, wanted in facts["files"].items():
        path = root / name
        if not path.is_file():
            raise BundleError(f"{name} is missing: unpack the bundle again.")
        if digest(path) != wanted:
            raise BundleError(f"{name} is not as the manifest has it: copy the bundle again, and unpack it anew.")
    return len(facts["files"])


def _gather(lock: Path, folder: Path, given: Path | None) -> None:
    """The wheel of every package of the lock; packages that come as source alone are built."""
    folder.mkdir(parents=True)
    if given is None:
        command = [sys.executable, "-m", "pip", "wheel", "-qq", "--disable-pip-version-check", "--no-deps"]
        index = ["--extra-index-url", "https://download.pytorch.org/whl/cpu"] if "+cpu" in lock.read_text() else []
        for further in ([], index):  # where the usual index has torch for CPUs, no other is asked
            done = subprocess.run([*command, *further, "--wheel-dir", str(folder), "--requirement", str(lock)])
            if done.returncode == 0:
                break
    else:
        _copy(given, folder)
    found = {_key(*path.name.split("-")[:2]) for path in folder.glob("*.whl")}
    wanted = re.findall(r"^([A-Za-z0-9._-]+)==([^\s;]+)", lock.read_text(), re.MULTILINE)
    if missing := [f"{name} {version}" for name, version in wanted if _key(name, version) not in found]:
        raise BundleError(f"{len(missing)} packages of {lock.name} have no wheel: {', '.join(missing[:5])}.")


def _key(name: str, version: str) -> tuple[str, str]:
    return re.sub(r"[-_.]+", "-", name).lower(), version


def _check_out(folder: Path) -> None:
    folder.mkdir(parents=True)
    with subprocess.Popen(["git", "archive", "HEAD"], cwd=ROOT, stdout=subprocess.PIPE) as process:  # nosec B607
        # Not Python's tarfile: early releases of 3.11 cannot be told to trust no path in an archive.
        unpacked = subprocess.run(["tar", "--extract", "--directory", str(folder)], stdin=process.stdout)  # nosec B607
    if process.returncode or unpacked.returncode:
        raise BundleError("git archive failed: the bundle is made of a clone of the repository.")


def _copy(source: Path, target: Path) -> None:
    for path in _files(source):
        (target / path.relative_to(source)).parent.mkdir(parents=True, exist_ok=True)
        (target / path.relative_to(source)).write_bytes(path.read_bytes())


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())


def _version() -> str:
    found = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert found is not None
    return found[1]


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)  # nosec B607
    if done.returncode:
        raise BundleError(f"A bundle is made of a clone of the repository: {done.stderr.strip()}")
    return done.stdout.strip()


def main() -> int:
    """Run the command; its exit status."""
    parser = argparse.ArgumentParser(description="Make a bundle for machines without a way out, or check one.")
    commands = parser.add_subparsers(dest="command", required=True)
    make = commands.add_parser("build", help="make the archive")
    make.add_argument("--accelerator", choices=LOCKS, default="cpu", help="build of torch and vLLM (default: cpu)")
    make.add_argument("--target", type=Path, default=ROOT / "dist", help="folder that gets the archive")
    make.add_argument("--wheels", type=Path, help="folder with the wheels; by default they are fetched")
    commands.add_parser("verify", help="compare an unpacked bundle with its manifest")
    given = parser.parse_args()
    try:
        if given.command == "verify":
            print(f"{verify()} files are as the manifest has them.")
        else:
            archive = build(given.accelerator, given.target, given.wheels)
            print(f"{archive}  {archive.stat().st_size / 2**20:.0f} MiB  sha256 {digest(archive)}")
    except BundleError as error:
        print(f"✗ {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
