"""The scan on a GPU: one program per sequence, head and block of value columns walks the chunks in order."""

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

CHUNK = 64
MAX_COLUMNS = 64


@triton.jit
def _scan(
    query: Any,
    key: Any,
    value: Any,
    slopes: Any,
    starts: Any,
    initial: Any,
    out: Any,
    final: Any,
    heads: int,
    D: tl.constexpr,
    E: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    CHUNK: tl.constexpr,
) -> None:
    """The state of the chunk loop is [D, COLUMNS]; ROWS is D rounded up to a power of two."""
    sequence, head, block = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    first, last = tl.load(starts + sequence), tl.load(starts + sequence + 1)
    rate = tl.load(slopes + head)
    place, rows = tl.arange(0, CHUNK), tl.arange(0, ROWS)
    columns = block * COLUMNS + tl.arange(0, COLUMNS)
    held = (rows[:, None] < D) & (columns[None, :] < E)
    corner = (sequence * heads + head).to(tl.int64) * D * E
    cells = corner + rows[:, None] * E + columns[None, :]
    state = tl.load(initial + cells, mask=held, other=0.0)
    apart = place[:, None] - place[None, :]
    inside = tl.where(apart >= 0, tl.exp(-rate * tl.maximum(apart, 0)), 0.0)
    for low in range(first, last, CHUNK):
        size = tl.minimum(last - low, CHUNK)
        token = (low + place).to(tl.int64)
        known = place < size
        wide = (token[:, None] * heads + head) * D + rows[None, :]
        real = known[:, None] & (rows[None, :] < D)
        q = tl.load(query + wide, mask=real, other=0.0)
        k = tl.load(key + wide, mask=real, other=0.0)
        spots = (token[:, None] * heads + head) * E + columns[None, :]
        shown = known[:, None] & (columns[None, :] < E)
        v = tl.load(value + spots, mask=shown, other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * inside
        told = tl.dot(scores.to(v.dtype), v, input_precision="ieee")
        before = q.to(tl.float32) * tl.exp(-rate * (place + 1))[:, None]
        told += tl.dot(before, state, input_precision="ieee")
        tl.store(out + spots, told.to(out.dtype.element_ty), mask=shown)
        # Places behind the end have no key: their factor only has to be finite.
        to_end = tl.exp(-rate * tl.maximum(size - 1 - place, 0))
        faded = k.to(tl.float32) * to_end[:, None]
        state = state * tl.exp(-rate * size) + tl.dot(tl.trans(faded), v.to(tl.float32), input_precision="ieee")
    tl.store(final + cells, state, mask=held)


def scan(
    query: Tensor, key: Tensor, value: Tensor, slopes: Tensor, starts: Tensor, initial: Tensor
) -> tuple[Tensor, Tensor]:
    """As ``reference.scan``; states are float32."""
    (_, heads, depth), width, sequences = query.shape, value.shape[2], len(starts) - 1
    out, final = torch.empty_like(value), torch.empty_like(initial, dtype=torch.float32)
    columns = min(MAX_COLUMNS, max(16, triton.next_power_of_2(width)))
    grid = (sequences, heads, triton.cdiv(width, columns))
    if sequences:
        _scan[grid](
            query.contiguous(),
            key.contiguous(),
            value.contiguous(),
            slopes.float().contiguous(),
            starts.contiguous(),
            initial.float().contiguous(),
            out,
            final,
            heads,
            D=depth,
            E=width,
            ROWS=max(16, triton.next_power_of_2(depth)),
            COLUMNS=columns,
            CHUNK=CHUNK,
        )
    return out, final
