"""The few CUDA runtime calls that torch does not offer, for memory that other processes can open."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from torch import Tensor

HANDLE_BYTES = 64
"""Size of ``cudaIpcMemHandle_t``."""
LAZY_PEER_ACCESS = 1
"""``cudaIpcMemLazyEnablePeerAccess``, the only flag that exists."""


class _Handle(ctypes.Structure):
    _fields_ = (("reserved", ctypes.c_char * HANDLE_BYTES),)


class _Bytes:
    """Device memory in the form that torch imports without a copy."""

    def __init__(self, address: int, size: int) -> None:
        self.__cuda_array_interface__ = {
            "shape": (size,),
            "typestr": "|u1",
            "data": (address, False),
            "version": 3,
        }


class CudaRuntime:
    """``DeviceMemory`` of the current CUDA device; see ``cuda_ipc.py``."""

    def __init__(self, library: Any = None) -> None:
        """``library``: the runtime that torch has loaded, unless another is given."""
        torch.cuda.init()
        major = (torch.version.cuda or "0").split(".")[0]
        self._library = ctypes.CDLL(f"libcudart.so.{major}") if library is None else library
        self._library.cudaGetErrorString.restype = ctypes.c_char_p

    def device(self) -> str:
        """The device's UUID."""
        return str(torch.cuda.get_device_properties(torch.cuda.current_device()).uuid)

    def allocate(self, size: int) -> int:
        """See ``DeviceMemory``."""
        found = ctypes.c_void_p()
        self._call("cudaMalloc", ctypes.byref(found), ctypes.c_size_t(size))
        return int(found.value or 0)

    def free(self, address: int) -> None:
        """See ``DeviceMemory``."""
        self._call("cudaFree", ctypes.c_void_p(address))

    def export(self, address: int) -> bytes:
        """See ``DeviceMemory``."""
        handle = _Handle()
        self._call("cudaIpcGetMemHandle", ctypes.byref(handle), ctypes.c_void_p(address))
        return ctypes.string_at(ctypes.byref(handle), HANDLE_BYTES)

    def open(self, handle: bytes) -> int:
        """See ``DeviceMemory``."""
        found = ctypes.c_void_p()
        given = _Handle.from_buffer_copy(handle)
        self._call("cudaIpcOpenMemHandle", ctypes.byref(found), given, ctypes.c_uint(LAZY_PEER_ACCESS))
        return int(found.value or 0)

    def shut(self, address: int) -> None:
        """See ``DeviceMemory``."""
        self._call("cudaIpcCloseMemHandle", ctypes.c_void_p(address))

    def view(self, address: int, size: int) -> Tensor:
        """See ``DeviceMemory``."""
        return torch.as_tensor(_Bytes(address, size), device="cuda")

    def settle(self) -> None:
        """See ``DeviceMemory``."""
        torch.cuda.synchronize()

    def _call(self, name: str, *arguments: Any) -> None:
        code = getattr(self._library, name)(*arguments)
        if code:
            told = self._library.cudaGetErrorString(code).decode()
            raise RuntimeError(f"weights cannot be shared on the GPU: {name} answers {code} ({told})")
