"""The lock of images: each has one digest, and nothing is deployed or built by a tag.

A digest is known only after an image was built or looked up in its registry, so the lock of a fresh checkout has none;
a command that needs one explains how to pin it.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path

LOCK = Path(__file__).with_name("images.lock.json")


class LockError(ValueError):
    """A lock without the requested entry; the message says how to add it."""


@dataclass(frozen=True)
class Image:
    """One image of the lock."""

    name: str
    repository: str
    digest: str | None
    tag: str | None = None
    """Tag for looking up the digest; our own images have none."""

    def reference(self, registry: str | None = None) -> str:
        """``registry/repository@sha256:…``. Raises LockError if the digest is not known."""
        if self.digest is None:
            raise LockError(
                f"The image {self.name!r} has no digest in the lock: "
                f"run `python -m deploy.images pin {self.name} sha256:…` with the digest "
                + (f"of {self.repository}:{self.tag}." if self.tag else "that the push printed.")
            )
        return f"{registry}/{self.repository}@{self.digest}" if registry else f"{self.repository}@{self.digest}"


def read_lock(path: Path = LOCK) -> dict[str, Image]:
    """The images by name. Raises LockError if the file is not a valid lock."""
    try:
        document = json.loads(path.read_text())
        images = {name: Image(name=name, **entry) for name, entry in document.items()}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise LockError(f"{path} is not a lock of images: {error}. Use the release's lock.") from error
    for image in images.values():
        if image.digest is not None:
            _checked(image.digest)
    return images


def pin(name: str, digest: str, path: Path = LOCK) -> None:
    """Write the digest of an image into the lock. Raises LockError for an unknown name or an invalid digest."""
    images = read_lock(path)
    if name not in images:
        raise LockError(f"{name!r} is not an image of the lock; it has {', '.join(sorted(images))}.")
    document = json.loads(path.read_text())
    document[name]["digest"] = _checked(digest)
    lines = [f"  {json.dumps(key)}: {json.dumps(entry)}" for key, entry in document.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def _checked(digest: str) -> str:
    if not re.fullmatch(r"sha256:[0-9a-f]{64}", digest):
        raise LockError(f"{digest!r} is not a digest; write sha256: and 64 hexadecimal digits.")
    return digest
