"""The lock of images, and their build inputs: ``python -m deploy.images COMMAND``.

``pin NAME sha256:…`` writes a digest into the lock, ``show`` lists its content, ``env`` prints the images as settings
of the compose file, ``build-args`` the images that ours are built from, ``requirements KIND`` the Python packages of an
image.
"""

import argparse
import sys
from pathlib import Path

from deploy.images.lock import LOCK, LockError, pin, read_lock
from deploy.images.requirements import LOCKS, requirements

COMPOSE = {
    "WEB_IMAGE": "web",
    "CLUSTER_IMAGE": "cpu",
    "POSTGRES_IMAGE": "postgres",
    "REDIS_IMAGE": "redis",
    "CADDY_IMAGE": "caddy",
}
"""Images of the compose file by the variable that contains each."""
BUILT_FROM = {"BASE_IMAGE": "base", "NODE_IMAGE": "node"}
"""Images that ours are built from, by the build argument."""


def main() -> int:
    """Run one command; exit status 1 and a sentence if it fails."""
    parser = argparse.ArgumentParser(prog="python -m deploy.images", description="The lock of images.")
    parser.add_argument("--lock", type=Path, default=LOCK, help="lock to use instead of the checkout's")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("show", help="list the images and their digests")
    printing = commands.add_parser("env", help="print the images as lines of compose's settings.env")
    printing.add_argument("--cluster", choices=("cpu", "cuda"), default="cpu", help="image of Ray's nodes")
    printing.add_argument("--registry", help="registry, and path in it, that images are pulled from")
    commands.add_parser("build-args", help="print what images are built from, as variables of a shell")
    listing = commands.add_parser("requirements", help="print the Python packages of an image")
    listing.add_argument("kind", choices=sorted(LOCKS))
    pinning = commands.add_parser("pin", help="write the digest of an image into the lock")
    pinning.add_argument("name")
    pinning.add_argument("digest")
    given = parser.parse_args()
    try:
        if given.command == "pin":
            pin(given.name, given.digest, given.lock)
        images = read_lock(given.lock)
        if given.command == "requirements":
            print("\n".join(requirements(given.kind)))
            return 0
        if given.command == "build-args":
            print("\n".join(f"{variable}={images[name].reference()}" for variable, name in BUILT_FROM.items()))
            return 0
        if given.command == "env":
            for variable, name in {**COMPOSE, "CLUSTER_IMAGE": given.cluster}.items():
                print(f"{variable}={images[name].reference(given.registry)}")
            return 0
        for image in images.values():
            tagged = f"{image.repository}:{image.tag}" if image.tag else image.repository
            print(f"{image.name:10} {tagged:36} {image.digest or 'no digest yet'}")
    except LockError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
