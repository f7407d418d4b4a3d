"""The way to and from the kernel for segments of many lengths, with its formula in its place: it needs a card itself.

The kernel is tested in ``tests/gpu/test_attention.py``.
"""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from tests.trainer_core.update.making import make_groups, make_spec
from tests.trainer_core.update.test_packed_attention import SEGMENTS, by_formula, inputs, packed
from trainer_core.update.learner import Learner
from trainer_core.update.packed import varlen
from trainer_core.update.packed.reused import both_turns
from trainer_core.update.packed.segments import Segment, build_layout
from trainer_core.update.packed.spans import build_spans


class Formula:
    """What torch documents of its kernel: causal to the last key of each sequence, windows, grouped queries."""

    def __init__(self) -> None:
        self.forwards = self.backwards = 0
        self.most: set[int] = set()

    def forward(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        query_edges: Tensor,
        key_edges: Tensor,
        most_queries: int,
        most_keys: int,
        dropout: float,
        causal: bool,
        debug: bool,
        **rule: Any,
    ) -> tuple[Tensor, ...]:
        """Output, logarithms of sums, and what a seed would be."""
        assert (dropout, causal, debug) == (0.0, True, False)
        assert query_edges.dtype == key_edges.dtype == torch.int32
        assert most_keys == max(stop - start for start, stop in pairwise(key_edges.tolist()))
        self.most.add(most_queries)
        self.forwards += 1
        out, sums = self._attend(q, k, v, query_edges, key_edges, **rule)
        return out, sums, torch.zeros(2, dtype=torch.uint64), torch.zeros(0), torch.zeros(0)

    def backward(
        self,
        slope: Tensor,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        out: Tensor,
        logsumexp: Tensor,
        query_edges: Tensor,
        key_edges: Tensor,
        *_: Any,
        **rule: Any,
    ) -> tuple[Tensor, ...]:
        """Gradients of what went in."""
        self.backwards += 1
        with torch.enable_grad():
            leaves = [one.detach().requires_grad_() for one in (q, k, v)]
            again, sums = self._attend(*leaves, query_edges, key_edges, **rule)
            torch.testing.assert_close(again.detach(), out)
            torch.testing.assert_close(sums.detach(), logsumexp)
            return torch.autograd.grad((again * slope).sum(), leaves)

    @staticmethod
    def _attend(
        q: Tensor,
        k: Tensor,
        v: Tensor,
        query_edges: Tensor,
        key_edges: Tensor,
        *,
        scale: float,
        window_size_left: int = -1,
        window_size_right: int = 0,
    ) -> tuple[Tensor, Tensor]:
        assert window_size_right == 0
        outs, sums = [], []
        for (first, last), (low, high) in zip(
            pairwise(query_edges.tolist()), pairwise(key_edges.tolist()), strict=True
        ):
            shared = q.shape[1] // k.shape[1]
            keys, values = (one[low:high].repeat_interleave(shared, dim=1) for one in (k, v))
            scores = torch.einsum("qhd,khd->hqk", q[first:last], keys) * scale
            queries, count = last - first, high - low
            distance = torch.arange(count - queries, count)[:, None] - torch.arange(count)
            hidden = (distance < 0) | ((distance > window_size_left) if window_size_left >= 0 else distance.isnan())
            scores = scores.masked_fill(hidden, -torch.inf)
            outs.append(torch.einsum("hqk,khe->qhe", scores.softmax(-1), values))
            sums.append(scores.logsumexp(-1))
        return torch.cat(outs), torch.cat(sums, dim=1)


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Iterator[Formula]:
    """The formula in the kernel's place, taken wherever the kernel would be on a card."""
    formula = Formula()
    monkeypatch.setattr(varlen, "_forward", formula.forward)
    monkeypatch.setattr(varlen, "_backward", formula.backward)
    monkeypatch.setattr(varlen, "fits", lambda q, v, sinks, rule: sinks is None and not rule.softcap)
    yield formula


@pytest.mark.parametrize("rule", [{}, *({"sliding_window": size} for size in (1, 3, 5, 100))], ids=str)
def test_every_rule_is_the_formulas(kernel: Formula, rule: dict[str, Any]) -> None:
    """Float64, grouped queries, values smaller than keys, a prompt of two answers one of which stands apart."""
    given = inputs()
    expected = by_formula(given["q"], given["k"], given["v"], SEGMENTS, 0.8, **rule)
    found = packed(given, rule)
    torch.testing.assert_close(found, expected)
    slope = torch.randn(found.shape, generator=torch.Generator().manual_seed(1), dtype=found.dtype)
    leaves = [given[name] for name in "qkv"]
    mine, theirs = (torch.autograd.grad((one * slope).sum(), leaves) for one in (found, expected))
    # Gradients of shared keys are added up in float32.
    torch.testing.assert_close(mine, theirs, rtol=1e-6, atol=1e-6)
    assert (kernel.forwards, kernel.backwards) == (1, 1)


@pytest.mark.parametrize(
    ("capability", "size"), [((7, 5), 0), ((8, 0), 256), ((8, 9), 192), ((9, 0), 256), ((10, 0), 256), ((12, 0), 192)]
)
def test_what_a_card_takes(capability: tuple[int, int], size: int) -> None:
    assert varlen.largest_head(capability) == size


def test_a_cpu_has_another_way() -> None:
    given = inputs(torch.bfloat16)
    assert not varlen.fits(given["q"], given["v"], None, varlen.Rule(1.0))


def test_spans_of_shared_prompts() -> None:
    spans = build_layout(SEGMENTS).spans
    assert spans.query_edges.tolist() == [0, 7, 12, 13, 24, 26, 32, 35, 37]
    assert spans.key_edges.tolist() == [0, 7, 19, 20, 38, 41, 59, 74, 94]
    assert spans.key_rows is not None
    expected = [*range(7), *range(12), 12, *range(7), *range(13, 24), 12, 24, 25]
    expected += [*range(12), *range(26, 32), *range(12), *range(32, 35), *range(12), *range(26, 32), 35, 36]
    assert spans.key_rows.tolist() == expected
    assert (spans.most_queries, spans.most_keys) == (11, 20)


def test_spans_of_sequences_of_their_own() -> None:
    spans = build_spans([Segment(0, 3), Segment(3, 4)])
    assert (spans.query_edges.tolist(), spans.key_edges.tolist(), spans.key_rows) == ([0, 3, 4], [0, 3, 4], None)


def test_single_queries_are_not_taken_for_decoding(kernel: Formula) -> None:
    given = {name: one[:2] for name, one in inputs().items() if name != "s_aux"}
    q, k, v = (given[name] for name in "qkv")
    varlen.varlen_attention(q, k, v, build_spans([Segment(0, 1), Segment(1, 2)]), varlen.Rule(0.8))
    assert kernel.most == {2}


@pytest.mark.parametrize("keeps", [False, True])
def test_a_layer_that_is_computed_again_takes_its_attention(kernel: Formula, keeps: bool) -> None:
    given = inputs()
    leaves = [given[name] for name in "qkv"]
    expected = torch.autograd.grad((packed(given, {}).tanh() ** 2).sum(), leaves)
    assert (kernel.forwards, kernel.backwards) == (1, 1)

    def layer(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return packed({"q": q, "k": k, "v": v}, {}).tanh() ** 2

    turns = {"context_fn": both_turns} if keeps else {}
    found = checkpoint(layer, *leaves, use_reentrant=False, **turns)
    torch.testing.assert_close(torch.autograd.grad(found.sum(), leaves), expected)
    assert (kernel.forwards, kernel.backwards) == (2 if keeps else 3, 2)


def test_an_update_computes_attention_once(kernel: Formula, policy_dir: Path) -> None:
    found = {}
    for checkpointing in (False, True):
        policy = {"base": "tiny", "gradient_checkpointing": checkpointing}
        spec = make_spec(policy=policy, optimizer={"learning_rate": 1e-3, "epsilon": 1e-3})
        learner = Learner(policy_dir, spec)
        kernel.forwards = kernel.backwards = 0
        metrics = learner.update(make_groups(1), spec, 1)
        found[checkpointing] = metrics["actor/grad_norm"], learner.weights()
        assert kernel.forwards == kernel.backwards > 0
    assert found[True][0] == pytest.approx(found[False][0], rel=1e-6)
    for name, weight in found[False][1].items():
        torch.testing.assert_close(torch.from_numpy(found[True][1][name]), torch.from_numpy(weight))
