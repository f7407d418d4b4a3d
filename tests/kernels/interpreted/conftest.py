"""Triton's interpreter keeps bfloat16 as bits, which it multiplies in a ``dot``; here it multiplies numbers."""

from typing import Any

import numpy as np
import pytest
import triton.language as tl
from triton.runtime import interpreter


@pytest.fixture(autouse=True)
def products_of_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    multiply = interpreter.InterpreterBuilder.create_dot

    def create_dot(self: Any, a: Any, b: Any, *rest: Any) -> Any:
        return multiply(self, _wide(a), _wide(b), *rest)

    monkeypatch.setattr(interpreter.InterpreterBuilder, "create_dot", create_dot)


def _wide(handle: Any) -> Any:
    if handle.dtype.scalar != tl.bfloat16:
        return handle
    bits = np.ascontiguousarray(handle.data).astype(np.uint32) << 16
    return interpreter.TensorHandle(bits.view(np.float32), tl.float32)
