"""Linear layer and log-probability in one, tile by tile over vocabulary and tokens: full logits [T, V] never exist.

The forward pass keeps a running maximum and sums relative to it (online softmax, arXiv 1805.02867). The backward pass
recomputes each tile's logits. Sums are in float32, or in float64 for float64 input, for any storage type of the inputs.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from kernels.batch_invariant.reference import tile_rows

TILE_TOKENS = 1024
TILE_ELEMENTS = 1 << 20
"""Number of logits in one tile, small enough for the processor's cache."""
RUN_ELEMENTS = 1 << 19
"""Number of weights multiplied at a time: a product of few tokens with more weights is a quarter slower."""
KEPT_ELEMENTS = 1 << 23
"""Maximum number of logits kept from the forward for the backward pass: a small vocabulary is never computed twice."""
LOWEST = -1e30
"""Running maximum before the first tile: finite, so that a tile of only −inf does not subtract infinities."""


@dataclass(frozen=True, slots=True)
class OutputLayerInputs:
    """Inputs for T tokens of an output layer with V tokens."""

    hidden: Tensor
    """[T, D]."""
    weight: Tensor
    """[V, D]."""
    targets: Tensor
    """int64 [T]."""
    temperature: Tensor
    """Shape [T]."""
    bias: Tensor | None
    """[V]; −inf takes a token out of the vocabulary."""
    softcap: float | None = None
    """c if logits are capped to c·tanh(logit / c), before the temperature divides them."""


@dataclass(frozen=True, slots=True)
class Saved:
    """Tensors that the forward pass saves for the backward pass."""

    logsumexp: Tensor
    """Shape [T]."""
    entropy: Tensor
    """Shape [T]."""
    kept: Tensor | None = None
    """All scaled logits [T, V] if they are few."""


@dataclass(frozen=True, slots=True)
class InputGradients:
    """Gradients, accumulated and then rounded to the inputs' types; None if not requested."""

    hidden: Tensor | None
    weight: Tensor | None
    bias: Tensor | None


def accumulation_type(tensor: Tensor) -> torch.dtype:
    """float64 for float64, float32 for everything else."""
    return torch.float64 if tensor.dtype == torch.float64 else torch.float32


def row_tile(hidden: Tensor, weight: Tensor) -> int:
    """Tokens of a tile if results must not depend on the batch: every product has exactly this number."""
    width = min(len(weight), _run_width(weight))
    rest = len(weight) % width or width
    return min(tile_rows(weight.shape[1], columns, accumulation_type(hidden)) for columns in (width, rest))


def forward(given: OutputLayerInputs, *, batch_invariant: bool = False) -> tuple[Tensor, Saved]:
    """Log-probability [T] of each target, and the tensors for the backward pass.

    With ``batch_invariant``, T must be a multiple of ``row_tile``.
    """
    hidden, weight, targets = given.hidden, given.weight, given.targets
    tokens, vocabulary = len(hidden), len(weight)
    kind = accumulation_type(hidden)
    scaled = hidden.to(kind) / given.temperature.to(kind).unsqueeze(1)
    height = row_tile(hidden, weight) if batch_invariant else None
    if tokens * vocabulary <= KEPT_ELEMENTS and height is None:
        logits = _tile(given, scaled, slice(0, vocabulary), slice(0, tokens))
        top, total, mixed = _statistics(logits)
        chosen = logits.gather(1, targets.unsqueeze(1)).squeeze(1)
        return _finish(chosen, top, total, mixed, logits)
    top = torch.full((tokens,), LOWEST, dtype=kind, device=hidden.device)
    total, mixed, chosen = torch.zeros_like(top), torch.zeros_like(top), torch.zeros_like(top)
    for columns, rows in _tiles(given, height):
        logits = _tile(given, scaled, columns, rows)
        here, inside = _inside(targets[rows], columns)
        chosen[rows] += torch.where(inside, logits.gather(1, here.unsqueeze(1)).squeeze(1), 0.0)
        tile_top, tile_total, tile_mixed = _statistics(logits)
        new = torch.maximum(top[rows], tile_top)
        # Σ e^(z − a)·(z − a) moves to another origin b as e^(a − b)·(Σ e^(z − a)·(z − a) + (a − b)·Σ e^(z − a)).
        old_shift, tile_shift = (top[rows] - new).clamp_(min=LOWEST), tile_top - new
        old_factor, tile_factor = old_shift.exp(), tile_shift.exp()
        mixed[rows] = old_factor * (mixed[rows] + old_shift * total[rows]) + tile_factor * (
            tile_mixed + tile_shift * tile_total
        )
        total[rows] = old_factor * total[rows] + tile_factor * tile_total
        top[rows] = new
    return _finish(chosen, top, total, mixed, None)


def backward(
    slope: Tensor | None,
    entropy_slope: Tensor | None,
    saved: Saved,
    given: OutputLayerInputs,
    needs: tuple[bool, bool, bool],
) -> InputGradients:
    """Gradients of ``Σ slope·logprob + entropy_slope·entropy``.

    Args:
        slope: [T], or None for zero.
        entropy_slope: [T], or None for zero.
        saved: from the forward pass.
        given: as for ``forward``.
        needs: whether the gradients of hidden, weight and bias are needed.
    """
    hidden, weight, bias = given.hidden, given.weight, given.bias
    tokens, vocabulary = len(hidden), len(weight)
    kind = accumulation_type(hidden)
    heat = given.temperature.to(kind).unsqueeze(1)
    scaled = hidden.to(kind) / heat
    slope = torch.zeros_like(saved.logsumexp) if slope is None else slope.to(kind)
    tilt = None if entropy_slope is None else entropy_slope.to(kind)
    to_hidden = torch.zeros_like(scaled) if needs[0] else None
    # The first tile of tokens writes every run of columns, so nothing has to be zeroed before.
    to_weight = (torch.empty_like(weight) if tokens else torch.zeros_like(weight)) if needs[1] else None
    to_bias = torch.zeros_like(bias) if needs[2] and bias is not None else None
    tiles = [(slice(0, vocabulary), slice(0, tokens))] if saved.kept is not None else _tiles(given)
    # The gradient of low-precision weights is summed in full precision, one run of columns at a time.
    sums: Tensor | None = None
    for columns, rows in tiles:
        logits = _tile(given, scaled, columns, rows) if saved.kept is None else saved.kept.clone()
        bend = None if given.softcap is None else _bend(logits, heat[rows], given.softcap)
        flow = _flow(logits, saved, slope[rows], None if tilt is None else tilt[rows], rows)
        here, inside = _inside(given.targets[rows], columns)
        flow.scatter_add_(1, here.unsqueeze(1), torch.where(inside, slope[rows], 0.0).unsqueeze(1))
        if bend is not None:
            flow.mul_(bend)
        if to_hidden is not None:
            to_hidden[rows].addmm_(flow, weight[columns].to(kind))
        if to_weight is not None:
            sums = _add_product(to_weight[columns], flow.T, scaled[rows], sums, first=rows.start == 0)
        if to_bias is not None:
            to_bias[columns] += (flow / heat[rows]).sum(0).to(to_bias.dtype)
    if to_hidden is not None:
        to_hidden = (to_hidden / heat).to(hidden.dtype)
    return InputGradients(to_hidden, to_weight, to_bias)


def _flow(logits: Tensor, saved: Saved, slope: Tensor, tilt: Tensor | None, rows: slice) -> Tensor:
    """Gradient by the scaled logits z of a tile, which it overwrites; the caller adds the targets' own part.

    With p the softmax of z: d logprob / dz_v = 1[v = target] − p_v and d entropy / dz_v = −p_v·(log p_v + entropy).
    """
    logits.sub_(saved.logsumexp[rows].unsqueeze(1))
    if tilt is None:
        return logits.exp_().mul_(-slope.unsqueeze(1))
    probability = logits.exp()
    # A token of probability 0 does not contribute to the entropy: 0·∞ is 0 here.
    surprise = logits.masked_fill_(probability == 0, 0.0).add_(saved.entropy[rows].unsqueeze(1))
    surprise.mul_(tilt.unsqueeze(1)).add_(slope.unsqueeze(1))
    return probability.mul_(surprise).neg_()


def _add_product(out: Tensor, left: Tensor, right: Tensor, sums: Tensor | None, *, first: bool) -> Tensor | None:
    """Write ``left @ right`` to ``out``, or add it if this is not the run's ``first`` tile; returns the new sum.

    A separate sum is used only if ``out`` has less precision than the product.
    """
    if out.dtype == left.dtype:
        if first:
            torch.mm(left, right, out=out)
        else:
            out.addmm_(left, right)
        return None
    product = left @ right
    sums = product if sums is None or first else sums.add_(product)
    out.copy_(sums)
    return sums


def _tiles(given: OutputLayerInputs, height: int | None = None) -> Iterator[tuple[slice, slice]]:
    """Vocabulary in the outer loop, ``height`` tokens in the inner: the weight's gradient is written run by run."""
    tokens, vocabulary = len(given.hidden), len(given.weight)
    if height is None:
        height = min(TILE_TOKENS, max(1, tokens))
    width = max(1, TILE_ELEMENTS // height)
    for left in range(0, vocabulary, width):
        for low in range(0, tokens, height):
            yield slice(left, min(left + width, vocabulary)), slice(low, min(low + height, tokens))


def _tile(given: OutputLayerInputs, scaled: Tensor, columns: slice, rows: slice) -> Tensor:
    """Logits over temperature of one tile; ``scaled`` [T, D] are the hidden states over temperature."""
    logits = _project(scaled[rows], given.weight[columns])
    if given.bias is None and given.softcap is None:
        return logits
    heat = given.temperature[rows].to(scaled.dtype).unsqueeze(1)
    if given.bias is not None:
        logits.add_(given.bias[columns].to(scaled.dtype) / heat)
    if given.softcap is not None:
        excluded = None if given.bias is None else given.bias[columns] == -torch.inf
        logits.mul_(heat / given.softcap).tanh_().mul_(given.softcap / heat)
        if excluded is not None:
            logits.masked_fill_(excluded, -torch.inf)
    return logits


def _bend(logits: Tensor, heat: Tensor, softcap: float) -> Tensor:
    """Slope of a tile's capped logits by the uncapped ones: d c·tanh(x / c) / dx = 1 − tanh²(x / c)."""
    return (logits * (heat / softcap)).square_().neg_().add_(1)


def _project(states: Tensor, weight: Tensor) -> Tensor:
    """``states @ weight.T`` in the states' type, run by run."""
    width = _run_width(weight)
    result = states.new_empty(len(states), len(weight))
    for part, run in zip(result.split(width, dim=1), weight.split(width), strict=True):
        torch.mm(states, run.to(states.dtype).T, out=part)
    return result


def _run_width(weight: Tensor) -> int:
    return max(1, RUN_ELEMENTS // max(1, weight.shape[1]))


def _statistics(logits: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Maximum a, Σ e^(z − a) and Σ e^(z − a)·(z − a) of each row."""
    top = logits.amax(dim=1).clamp_(min=LOWEST)
    # e^(−∞)·(−∞) is 0 here: the bound is far below where the exponential becomes 0.
    shifted = (logits - top.unsqueeze(1)).clamp_(min=-1e4)
    powers = shifted.exp()
    total = powers.sum(dim=1)
    return top, total, powers.mul_(shifted).sum(dim=1)


def _inside(targets: Tensor, columns: slice) -> tuple[Tensor, Tensor]:
    """Column of each target in the tile (0 if it is outside), and whether it is inside."""
    inside = (targets >= columns.start) & (targets < columns.stop)
    return torch.where(inside, targets - columns.start, 0), inside


def _finish(chosen: Tensor, top: Tensor, total: Tensor, mixed: Tensor, kept: Tensor | None) -> tuple[Tensor, Saved]:
    log_total = total.log()
    entropy = log_total - mixed / total
    # Not chosen − (top + log_total): with huge logits the sum would lose the digits of its second term.
    return (chosen - top) - log_total, Saved(top + log_total, entropy, kept)
