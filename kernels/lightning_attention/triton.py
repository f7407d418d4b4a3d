"""The scan on a GPU: one program per run, head and block of value columns processes the chunks in order.

A long sequence is split into runs that are processed in parallel, since a single scan would leave most of a GPU idle.
First comes each run's own end state from nothing, then the states before the runs, then the outputs from these.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import torch
import triton
import triton.language as tl
from torch import Tensor


class ScanTiles(NamedTuple):
    """Tile sizes of a scan, chosen so that a thread's values fit into its registers, for heads of up to 128."""

    chunk: int
    """Tokens in a tile."""
    columns: int
    """Maximum number of value columns in a tile."""
    warps: int


TILES = {torch.bfloat16: ScanTiles(64, 64, 8), torch.float16: ScanTiles(32, 32, 4), torch.float32: ScanTiles(16, 32, 4)}
PROGRAMS = 1024
"""Number of programs that keeps a GPU with about 130 multiprocessors busy."""
SHORTEST = 512
"""Minimum number of tokens in a run, since each run costs a state in memory."""
BLOCK = 1024


@triton.jit
def _times(left: tl.tensor, right: tl.tensor, PRECISION: tl.constexpr) -> tl.tensor:
    """``left @ right`` for float32 ``right``: beside bfloat16 in two parts of it, which together have 16 bits.

    So ``left`` stays as it is, and finds room.
    """
    if left.dtype == tl.bfloat16:
        high = right.to(tl.bfloat16)
        low = (right - high.to(tl.float32)).to(tl.bfloat16)
        return tl.dot(left, high) + tl.dot(left, low)
    return tl.dot(left.to(tl.float32), right, input_precision=PRECISION)


@triton.jit
def _walk(
    query: tl.tensor,
    key: tl.tensor,
    value: tl.tensor,
    slopes: tl.tensor,
    edges: tl.tensor,
    before: tl.tensor,
    out: tl.tensor,
    behind: tl.tensor,
    heads: int,
    D: tl.constexpr,
    E: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    CHUNK: tl.constexpr,
    PRECISION: tl.constexpr,
    REVERSE: tl.constexpr,
    FRESH: tl.constexpr,
    TELLS: tl.constexpr,
    LEAVES: tl.constexpr,
) -> None:
    """The state of the chunk loop is [D, COLUMNS]; ROWS is D rounded up to a power of two.

    ``FRESH``: from nothing instead of the states ``before``. ``TELLS``: write the outputs. ``LEAVES``: write the states
    ``behind`` the runs. Inputs of 16 bits are multiplied as they are, but float16, whose scores might overflow.
    """
    run, head, block = tl.program_id(0).to(tl.int64), tl.program_id(1), tl.program_id(2)
    first, last = tl.load(edges + run), tl.load(edges + run + 1)
    rate = tl.load(slopes + head)
    place, rows = tl.arange(0, CHUNK), tl.arange(0, ROWS)
    columns = block * COLUMNS + tl.arange(0, COLUMNS)
    held = (rows[:, None] < D) & (columns[None, :] < E)
    cells = rows[:, None] * E + columns[None, :]
    corner = (run * heads + head) * D * E
    # Within a chunk 32 bits count the way from its first token, and leave twice the registers.
    step = heads
    if REVERSE:
        step = -heads
    wide = (place * step * D)[:, None] + rows[None, :]
    spots = (place * step * E)[:, None] + columns[None, :]
    if FRESH:
        state = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    else:
        state = tl.load(before + corner + cells, mask=held, other=0.0)
    for low in range(0, last - first, CHUNK):
        size = tl.minimum(last - first - low, CHUNK).to(tl.int32)
        known = place < size
        token = first + low
        if REVERSE:
            token = last - 1 - low
        start = token * heads + head
        real = known[:, None] & (rows[None, :] < D)
        k = tl.load(key + start * D + wide, mask=real, other=0.0)
        shown = known[:, None] & (columns[None, :] < E)
        v = tl.load(value + start * E + spots, mask=shown, other=0.0)
        if value.dtype.element_ty == tl.float16:
            k, v = k.to(tl.float32), v.to(tl.float32)
        if TELLS:
            q = tl.load(query + start * D + wide, mask=real, other=0.0)
            if value.dtype.element_ty == tl.float16:
                q = q.to(tl.float32)
            apart = place[:, None] - place[None, :]
            inside = tl.where(apart >= 0, tl.exp(-rate * tl.maximum(apart, 0)), 0.0)
            scores = tl.dot(q, tl.trans(k), input_precision=PRECISION) * inside
            carried = _times(q, state, PRECISION)
            told = carried * tl.exp(-rate * (place + 1))[:, None]
            told += tl.dot(scores.to(v.dtype), v, input_precision=PRECISION)
            tl.store(out + start * E + spots, told.to(out.dtype.element_ty), mask=shown)
        # Places behind the end have no value: their factor only has to be finite.
        faded = v.to(tl.float32) * tl.exp(-rate * tl.maximum(size - 1 - place, 0))[:, None]
        state = state * tl.exp(-rate * size) + _times(tl.trans(k), faded, PRECISION)
    if LEAVES:
        tl.store(behind + corner + cells, state, mask=held)


@triton.jit
def _carry(
    states: tl.tensor,
    initial: tl.tensor,
    final: tl.tensor,
    slopes: tl.tensor,
    edges: tl.tensor,
    spans: tl.tensor,
    heads: int,
    cells: int,
    REVERSE: tl.constexpr,
    BLOCK: tl.constexpr,
) -> None:
    """Turn each run's own end state into the state before it; ``spans`` are the first runs of the sequences."""
    sequence, head = tl.program_id(0).to(tl.int64), tl.program_id(1)
    cell = tl.program_id(2) * BLOCK + tl.arange(0, BLOCK)
    held = cell < cells
    first, last = tl.load(spans + sequence), tl.load(spans + sequence + 1)
    rate = tl.load(slopes + head)
    corner = (sequence * heads + head) * cells
    state = tl.load(initial + corner + cell, mask=held, other=0.0)
    for number in range(first, last):
        run = number
        if REVERSE:
            run = first + last - 1 - number
        size = (tl.load(edges + run + 1) - tl.load(edges + run)).to(tl.float32)
        here = states + (run * heads + head) * cells + cell
        own = tl.load(here, mask=held, other=0.0)
        tl.store(here, state, mask=held)
        state = state * tl.exp(-rate * size) + own
    tl.store(final + corner + cell, state, mask=held)


def scan(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    slopes: Tensor,
    edges: Sequence[int],
    initial: Tensor,
    *,
    reverse: bool = False,
) -> tuple[Tensor, Tensor]:
    """Computes ``reference.scan``; states are float32."""
    heads, depth, width = *query.shape[1:], value.shape[2]
    given = [part.contiguous() for part in (query, key, value)]
    rates, initial = slopes.float().contiguous(), initial.float().contiguous()
    out, final = torch.empty_like(given[2]), torch.empty_like(initial)
    tiles = TILES[query.dtype]
    columns = min(tiles.columns, max(16, triton.next_power_of_2(width)))
    blocks = triton.cdiv(width, columns)
    shape = {
        "heads": heads, "D": depth, "E": width, "ROWS": max(16, triton.next_power_of_2(depth)), "COLUMNS": columns,
        "CHUNK": tiles.chunk, "PRECISION": "tf32x3" if query.dtype == torch.float32 else "tf32", "REVERSE": reverse,
        "num_warps": tiles.warps, "num_stages": 2,
    }  # fmt: skip
    cuts, spans = cut(edges, _run_length(edges[-1], heads * blocks, tiles.chunk))
    with torch.cuda.device_of(query):
        if len(cuts) <= len(edges):
            # No sequence was split: each is processed in one go, and empty ones pass their state on.
            whole = (len(edges) - 1, heads, blocks)
            marks = torch.tensor(edges, device=query.device)
            if whole[0]:
                _walk[whole](*given, rates, marks, initial, out, final, FRESH=False, TELLS=True, LEAVES=True, **shape)
            return out, final
        marks, grid = torch.tensor(cuts, device=query.device), (len(cuts) - 1, heads, blocks)
        states = torch.empty((len(cuts) - 1, heads, depth, width), dtype=torch.float32, device=query.device)
        _walk[grid](*given, rates, marks, initial, out, states, FRESH=True, TELLS=False, LEAVES=True, **shape)
        cells = depth * width
        _carry[(len(edges) - 1, heads, triton.cdiv(cells, BLOCK))](
            states, initial, final, rates, marks, torch.tensor(spans, device=query.device), heads, cells,
            REVERSE=reverse, BLOCK=BLOCK,
        )  # fmt: skip
        _walk[grid](*given, rates, marks, states, out, states, FRESH=False, TELLS=True, LEAVES=False, **shape)
    return out, final


def cut(edges: Sequence[int], length: int) -> tuple[list[int], list[int]]:
    """Edges of runs of at most ``length`` tokens, and each sequence's first run; an empty sequence has no run."""
    cuts, spans = [0], [0]
    for first, last in pairwise(edges):
        cuts.extend(range(first + length, last, length))
        if last > first:
            cuts.append(last)
        spans.append(len(cuts) - 1)
    return cuts, spans


def _run_length(tokens: int, programs: int, chunk: int) -> int:
    """Tokens of a run, a multiple of ``chunk``, so that about ``PROGRAMS`` programs run at a time."""
    wanted = max(1, PROGRAMS // programs)
    return chunk * int(triton.cdiv(max(SHORTEST, tokens // wanted), chunk))
