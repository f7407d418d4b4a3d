"""A card that is not there: Triton compiles for it what the operations launch, and launches nothing.

What a kernel needs is read off the binary, as the assembler of the CUDA toolkit (it comes with Triton) made it.
"""

import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import triton
from triton.backends import nvidia
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase
from triton.runtime.jit import JITFunction

SHARED_BYTES = {80: 163 * 1024, 90: 227 * 1024}
"""What one block may have, by compute capability (CUDA C++ Programming Guide, technical specifications)."""
TENSOR_CORES = ("wgmma.mma_async", "mma.sync")


@dataclass(frozen=True, slots=True)
class Compiled:
    """One kernel in one specialisation."""

    name: str
    registers: int
    """Of a thread."""
    spilled: int
    """Bytes of a thread that found no register."""
    shared: int
    """Bytes of a block."""
    products: int
    """Instructions that use the tensor cores."""


class _Card(DriverBase):
    """Answers what a compilation asks; what only a launch would ask is not there."""

    def __init__(self, capability: int) -> None:
        self._target = GPUTarget("cuda", capability, 32)

    @classmethod
    def is_active(cls) -> bool:
        return True

    def map_python_to_cpp_type(self, ty: str) -> str:
        return ty

    def get_current_target(self) -> GPUTarget:
        return self._target

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: int) -> int:
        return 0

    def get_active_torch_device(self) -> Any:
        raise NotImplementedError

    def get_benchmarker(self) -> Any:
        raise NotImplementedError


@contextmanager
def card(capability: int) -> Iterator[list[Compiled]]:
    """While open, launches compile for ``capability`` (90 is 9.0) and add to the list; results are not computed."""
    found: list[Compiled] = []

    def compiling(kernel: Any, grid: Any) -> Callable[..., None]:
        def launch(*args: Any, **options: Any) -> None:
            kernel.device_caches.clear()
            found.append(_read(kernel.warmup(*args, grid=grid, **options)))

        return launch

    launching = JITFunction.__getitem__
    triton.runtime.driver.set_active(_Card(capability))
    JITFunction.__getitem__ = compiling
    try:
        yield found
    finally:
        JITFunction.__getitem__ = launching


def _read(kernel: Any) -> Compiled:
    with tempfile.TemporaryDirectory() as folder:
        binary = Path(folder) / "kernel.cubin"
        binary.write_bytes(kernel.asm["cubin"])
        tool = Path(nvidia.__file__).parent / "bin" / "cuobjdump"
        said = subprocess.run([tool, "--dump-resource-usage", binary], check=True, capture_output=True, text=True)
    registers, stack, local = (int(re.findall(rf"{what}:(\d+)", said.stdout)[-1]) for what in ("REG", "STACK", "LOCAL"))
    products = sum(kernel.asm["ptx"].count(name) for name in TENSOR_CORES)
    return Compiled(kernel.metadata.name, registers, stack + local, kernel.metadata.shared, products)
