"""Seeds: every random choice follows from the run's seed and its place in the run."""

import hashlib


def derive_seed(seed: int, *place: int | str) -> int:
    """A 63-bit seed for one place in the run, such as ``("batch", step)``; independent of the seeds of other places."""
    text = ":".join(str(part) for part in (seed, *place))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little") >> 1
