"""Packed attention on a device: long segments, windows, capped scores and sinks, against the formula in float64."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from tests.support.about import TRAINING
from tests.trainer_core.update.test_packed_attention import RULES, SEGMENTS, by_formula, inputs
from trainer_core.update.packed import segments, tiles, varlen
from trainer_core.update.packed.attention import packed_attention
from trainer_core.update.packed.reused import both_turns
from trainer_core.update.packed.rule import Rule
from trainer_core.update.packed.segments import Segment, build_layout

PROMPT, ANSWER = 1500, 1100
"""Segments longer than a tile, and divided by none: the answer has the prompt in front of it."""
LONG_RULES: list[dict[str, Any]] = [
    {},
    {"sliding_window": 700},
    {"softcap": 1.5},
    {"s_aux": True},
    {"softcap": 1.5, "s_aux": True, "sliding_window": 700},
]
SHORT_TILES = 4
Answer = list[Tensor]


def attended(given: dict[str, Tensor], runs: tuple[Segment, ...], rule: dict[str, Any], device: str) -> Answer:
    """Output, and gradients of all that went in, by packed attention."""
    leaves = {name: one.detach().to(device).requires_grad_() for name, one in given.items()}
    q, k, v = (leaves[name].transpose(0, 1).unsqueeze(0) for name in "qkv")
    sinks = {"s_aux": leaves["s_aux"]} if rule.get("s_aux") else {}
    layout = build_layout(runs).to(torch.device(device))
    out, _ = packed_attention(nn.Identity(), q, k, v, None, layout=layout, scaling=0.8, **{**rule, **sinks})
    return _with_gradients(out[0], leaves, sinks)


def by_matrix(given: dict[str, Tensor], window: int | None, softcap: float | None, *, sink: bool) -> Answer:
    """The same of a prompt and its answer: all scores at once, in float64, of as many heads as there are keys."""
    leaves = {name: one.detach().double().requires_grad_() for name, one in given.items()}
    scores = torch.einsum("qhd,khd->hqk", leaves["q"], leaves["k"]) * 0.8
    if softcap is not None:
        scores = softcap * torch.tanh(scores / softcap)
    distance = torch.arange(scores.shape[1])[:, None] - torch.arange(scores.shape[2])
    hidden = (distance < 0) if window is None else (distance < 0) | (distance >= window)
    scores = scores.masked_fill(hidden, -torch.inf)
    sinks = {"s_aux": leaves["s_aux"]} if sink else {}
    if sink:
        scores = torch.cat([scores, leaves["s_aux"].view(-1, 1, 1).expand(-1, scores.shape[1], 1)], dim=-1)
    shares = scores.softmax(dim=-1)[..., : len(leaves["v"])]
    return _with_gradients(torch.einsum("hqk,khe->qhe", shares, leaves["v"]), leaves, sinks)


def _with_gradients(out: Tensor, leaves: dict[str, Tensor], sinks: dict[str, Tensor]) -> Answer:
    slopes = torch.randn(out.shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    asked = [leaves[name] for name in ("q", "k", "v", *sinks)]
    gradients = torch.autograd.grad((out * slopes.to(out)).sum(), asked)
    return [out.detach(), *gradients]


def near(found: Answer, expected: Answer, tolerance: float) -> None:
    """Compare with the largest entry in mind: entries are sums of many."""
    for mine, theirs in zip(found, expected, strict=True):
        most = max(1.0, float(theirs.abs().max()))
        torch.testing.assert_close(mine.cpu().double(), theirs.double(), rtol=tolerance, atol=tolerance * most)


@pytest.fixture(params=["in buckets", "long", "long in small tiles"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The way that segments of more than four keys are computed."""
    if request.param != "in buckets":
        monkeypatch.setattr(segments, "MAX_MASKED_KEYS", SHORT_TILES)
    if request.param == "long in small tiles":
        monkeypatch.setattr(tiles, "LONGEST_SIDE", SHORT_TILES)
        monkeypatch.setattr(tiles, "SHORTEST_SIDE", SHORT_TILES)
    return str(request.param)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_every_rule_is_the_formulas(device: str, way: str, rule: dict[str, Any], dtype: torch.dtype) -> None:
    given = inputs(dtype)
    exact = {name: one.detach().double().requires_grad_() for name, one in given.items()}
    sinks = {"s_aux": exact["s_aux"]} if rule.get("s_aux") else {}
    whole = by_formula(exact["q"], exact["k"], exact["v"], SEGMENTS, 0.8, **{**rule, **sinks})
    expected = _with_gradients(whole, exact, sinks)
    near(attended(given, SEGMENTS, rule, device), expected, 1e-5 if dtype == torch.float32 else 4e-2)


@pytest.mark.expensive(3, "runs on CPUs what is for a GPU", about=TRAINING)
@pytest.mark.parametrize("rule", LONG_RULES, ids=str)
def test_an_answer_behind_a_long_prompt(device: str, rule: dict[str, Any]) -> None:
    made = torch.Generator().manual_seed(0)
    heads, size, tokens = 2, 16, PROMPT + ANSWER
    given = {name: torch.randn(tokens, heads, size, generator=made) / 2 for name in "qkv"}
    given["s_aux"] = torch.randn(heads, generator=made)
    runs = (Segment(0, PROMPT), Segment(PROMPT, tokens, ((0, PROMPT),)))
    expected = by_matrix(given, rule.get("sliding_window"), rule.get("softcap"), sink=bool(rule.get("s_aux")))
    near(attended(given, runs, rule, device), expected, 1e-4)


@pytest.mark.parametrize("rule", [{}, {"sliding_window": 3}, {"sliding_window": 700}], ids=str)
@pytest.mark.parametrize(
    "runs", [SEGMENTS, (Segment(0, PROMPT), Segment(PROMPT, PROMPT + ANSWER, ((0, PROMPT),)))], ids=len
)
@pytest.mark.parametrize("values", [16, 32])
def test_all_segments_in_one_call(device: str, runs: tuple[Segment, ...], rule: dict[str, Any], values: int) -> None:
    """In bfloat16, heads that share keys, values of fewer numbers than keys: by the kernel where it fits."""
    made = torch.Generator().manual_seed(0)
    tokens, heads, size = sum(one.num_queries for one in runs), 4, 32
    shapes = {"q": (heads, size), "k": (2, size), "v": (2, values)}
    given = {name: torch.randn(tokens, *shape, generator=made).bfloat16() for name, shape in shapes.items()}
    asked = Rule(0.8, rule.get("sliding_window"))
    assert varlen.fits(*(given[name].to(device) for name in "qv"), None, asked) == (device == "cuda")
    near(attended(given, runs, rule, device), attended(given, runs, rule, "cpu"), 3e-2)


def test_a_layer_that_is_computed_again_takes_its_attention(device: str) -> None:
    made = torch.Generator().manual_seed(0)
    given = [torch.randn(37, 4, 32, generator=made).bfloat16().to(device).requires_grad_() for _ in range(3)]
    layout = build_layout(SEGMENTS).to(torch.device(device))

    def layer(*states: Tensor) -> Tensor:
        q, k, v = (one.transpose(0, 1).unsqueeze(0) for one in states)
        out: Tensor = packed_attention(nn.Identity(), q, k, v, None, layout=layout)[0].tanh()
        return out

    expected = torch.autograd.grad(layer(*given).float().square().sum(), given)
    again = checkpoint(layer, *given, use_reentrant=False, context_fn=both_turns)
    found = torch.autograd.grad(again.float().square().sum(), given)
    near([one.detach() for one in found], [one.detach().cpu().double() for one in expected], 1e-2)
