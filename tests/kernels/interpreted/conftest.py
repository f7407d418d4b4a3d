"""Products of Triton's interpreter, mended: of numbers where it multiplies bit patterns, in an order that stays.

It keeps bfloat16 as bits, which it would multiply. And it leaves products to a BLAS, which on some machines adds up a
row in another order at another place of the tile: what the tests ask of a kernel would then be asked of the BLAS.
"""

from typing import Any

import numpy as np
import pytest
import triton.language as tl
from numpy.typing import NDArray
from triton.runtime import interpreter


@pytest.fixture(autouse=True)
def products_of_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    def create_dot(self: Any, a: Any, b: Any, d: Any, *rest: Any) -> Any:
        total = d.data + _product(_numbers(a), _numbers(b), d.data.dtype)
        return interpreter.TensorHandle(total.astype(d.data.dtype), d.dtype.scalar)

    monkeypatch.setattr(interpreter.InterpreterBuilder, "create_dot", create_dot)


def _product(a: NDArray[Any], b: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """``a @ b``, each element summed from the first to the last term, wherever it stands."""
    total = np.zeros((*a.shape[:-1], b.shape[-1]), dtype)
    for k in range(a.shape[-1]):
        total += a[..., k : k + 1].astype(dtype) * b[..., k : k + 1, :].astype(dtype)
    return total


def _numbers(handle: Any) -> NDArray[Any]:
    if handle.dtype.scalar != tl.bfloat16:
        return np.asarray(handle.data)
    return (np.ascontiguousarray(handle.data).astype(np.uint32) << 16).view(np.float32)
