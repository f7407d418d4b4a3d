"""Processes that read weights beside the test's own, and the tensors that they shall find."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from worker.learner.transport.layout import raw

Fingerprint = dict[str, tuple[str, tuple[int, ...], bytes]]


def layers(seed: int, rows: int = 64) -> list[dict[str, Tensor]]:
    """Every number type that travels, a tied pair, a number alone and a tensor without any."""
    rng = torch.Generator().manual_seed(seed)
    embedding = torch.randn(rows, 48, generator=rng).bfloat16()
    return [
        {"model.embed_tokens.weight": embedding, "lm_head.weight": embedding},
        {
            "model.layers.0.float32": torch.randn(rows, 3, generator=rng),
            "model.layers.0.float16": torch.randn(5, generator=rng).half(),
            "model.layers.0.fp8": torch.randn(rows, 7, generator=rng).to(torch.float8_e4m3fn),
            "model.layers.0.fp8_wide": torch.randn(9, generator=rng).to(torch.float8_e5m2),
            "model.layers.0.transposed": torch.randn(6, rows, generator=rng).T,
        },
        {},
        {"model.norm.scale": torch.tensor(1.5 + seed), "model.norm.none": torch.empty(0, 4)},
    ]


def fingerprint(tensors: Mapping[str, Tensor]) -> Fingerprint:
    """Type, shape and bytes of each tensor."""
    return {name: (str(one.dtype), tuple(one.shape), bytes(raw(one))) for name, one in tensors.items()}


def expected(seed: int, rows: int = 64) -> Fingerprint:
    """Fingerprint of ``layers``."""
    return fingerprint({name: tensor for layer in layers(seed, rows) for name, tensor in layer.items()})


def read(transport: str, packed: bytes) -> Fingerprint | str:
    """What a transport hands over in this process, or the words in which it refuses."""
    from worker.learner.transport import TRANSPORTS

    try:
        return fingerprint(TRANSPORTS[transport].unpack(pickle.loads(packed)))
    except RuntimeError as error:
        return str(error)


def process(code: str, *arguments: str) -> subprocess.Popen[bytes]:
    """A Python process that runs ``code``, to be talked with through its pipes."""
    return subprocess.Popen([sys.executable, "-c", code, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def handed_over(writer: subprocess.Popen[bytes]) -> Any:
    """What a process has printed with ``pickle.dump``."""
    assert writer.stdout is not None
    return pickle.load(writer.stdout)


def shared_memory_of(pid: int) -> set[str]:
    """Files of ``/dev/shm`` that a process has open or mapped. Other processes share that folder: its listing is theirs
    as well. Semaphores of Python's pools and what Ray has unlinked are not counted."""
    opened = set()
    for one in Path(f"/proc/{pid}/fd").iterdir():
        try:
            opened.add(os.readlink(one))
        except FileNotFoundError:  # the descriptor that reads this very folder
            continue
    mapped = {line.split(maxsplit=5)[5] for line in Path(f"/proc/{pid}/maps").read_text().splitlines() if "/" in line}
    files = {name for name in opened | mapped if name.startswith("/dev/shm/") and not name.endswith("(deleted)")}
    return {name for name in files if not name.startswith("/dev/shm/sem.")}
