"""SimKO in float64 against its authors' expression, written out token by token, and on the learner."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from pydantic import TypeAdapter, ValidationError
from torch import Tensor

from tests.trainer_core.update.making import make_groups, make_spec
from trainer_core.methods import losses
from trainer_core.methods.aggregation import Denominators
from trainer_core.methods.entropy import entropy
from trainer_core.methods.view import Candidates, TokenView
from trainer_core.metrics import find
from trainer_core.spec.methods.loss import Loss
from trainer_core.update.learner import Learner
from trainer_core.update.model.extra_outputs import own_candidates
from trainer_core.update.model.likeliest import likeliest_logprobs
from trainer_core.update.objective.policy_objective import loss_share
from trainer_core.update.packed.packing import pack
from trainer_core.update.totals import Totals

VOCABULARY = 9
LENGTHS = [6, 1, 9, 4]


def made(**smoothing: Any) -> Any:
    parts = {"k": 3, "alpha": 0.3, "quantile": 0.5, "penalty": 1.4, **smoothing}
    return TypeAdapter(Loss).validate_python(
        {"type": "ppo_clip", "ratio_min": 0.8, "ratio_max": 1.2, "smoothing": parts}
    )


def batch(seed: int) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    size = sum(LENGTHS)
    then, step, noise = (torch.randn(size, VOCABULARY, generator=generator, dtype=torch.float64) for _ in range(3))
    scale = 0.3 + 2 * torch.rand(size, 1, generator=generator, dtype=torch.float64)
    then = scale * then
    sampled = torch.where(
        torch.rand(size, generator=generator) < 0.5,
        (then + 0.2 * step).argmax(1),
        torch.randint(0, VOCABULARY, (size,), generator=generator),
    )
    return {
        "then": then,
        "now": (then + 0.2 * step).requires_grad_(),
        "sampled": sampled,
        "advantages": noise[:, 0],
        "mask": torch.rand(size, generator=generator) < 0.85,
        "sequence": torch.repeat_interleave(torch.tensor([5, 2, 9, 0]), torch.tensor(LENGTHS)),
    }


def view(tokens: dict[str, Tensor], k: int, candidates: bool = True) -> TokenView:
    own = tokens["sampled"].unsqueeze(1)
    now, then = tokens["now"].log_softmax(1), tokens["then"].log_softmax(1)
    best = now.topk(k, dim=1)
    seen = Candidates(best.values, entropy(tokens["now"]), best.indices[:, 0] == tokens["sampled"])
    old = then.gather(1, own)[:, 0]
    return TokenView(
        now.gather(1, own)[:, 0],
        old,
        old,
        tokens["advantages"],
        tokens["mask"],
        tokens["sequence"],
        candidates=seen if candidates else None,
    )


def written_out(spec: Any, tokens: dict[str, Tensor]) -> list[tuple[int, Tensor]]:
    """The authors' loop: ratios of the top-K against the policy before the step, stopped and multiplied again."""
    how = spec.smoothing
    now, then = tokens["now"].log_softmax(1), tokens["then"].log_softmax(1)
    result = []
    for number in dict.fromkeys(tokens["sequence"].tolist()):
        row = [t for t in range(len(now)) if tokens["sequence"][t] == number and tokens["mask"][t]]
        if not row:
            continue
        entropies = {t: -sum(float(p.exp() * p) for p in now[t]) for t in row}
        threshold = float(np.quantile(list(entropies.values()), how.quantile))
        for t in row:
            y, a = int(tokens["sampled"][t]), float(tokens["advantages"][t])
            ratio = torch.exp(now[t, y] - then[t, y])
            best = sorted(range(VOCABULARY), key=lambda v: -float(now[t, v]))
            if entropies[t] > threshold and a > 0:
                own = [torch.exp(now[t, v] - then[t, v]) for v in best[: how.k]]
                others = sum((float(ratio) / float(one)) * one for one in own)
                ratio = (1 - how.alpha) * ratio + how.alpha / how.k * others
            if entropies[t] > threshold and a < 0 and y == best[0]:
                a *= how.penalty
            clipped = min(max(float(ratio), spec.ratio_min), spec.ratio_max) * a
            bound = torch.tensor(-clipped, dtype=torch.float64)
            result.append((t, -ratio * a if float(ratio) * a <= clipped else bound))
    return result


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("smoothing", [{}, {"k": 1}, {"quantile": 0.0, "alpha": 1.0}, {"quantile": 1.0}], ids=str)
def test_value_and_gradient_are_the_authors(seed: int, smoothing: dict[str, Any]) -> None:
    spec, tokens = made(**smoothing), batch(seed)
    weights = torch.rand(len(tokens["mask"]), generator=torch.Generator().manual_seed(7), dtype=torch.float64)
    expected = written_out(spec, tokens)
    (wanted,) = torch.autograd.grad(torch.stack([weights[t] * value for t, value in expected]).sum(), tokens["now"])
    values, metrics = losses.token_loss(spec, view(tokens, spec.smoothing.k))
    (found,) = torch.autograd.grad((values.masked_fill(~tokens["mask"], 0.0) * weights).sum(), tokens["now"])
    for t, value in expected:
        assert values[t].item() == pytest.approx(value.item(), rel=1e-11, abs=1e-13)
    torch.testing.assert_close(found, wanted, rtol=1e-9, atol=1e-12)
    assert all(find(name) for name in metrics)
    touched = metrics["actor/smoothed_share"] + metrics["actor/likeliest_penalised_share"]
    assert (touched > 0) == (spec.smoothing.quantile < 1.0)


def test_above_the_highest_quantile_it_is_ppos_clip() -> None:
    tokens = batch(0)
    plain = TypeAdapter(Loss).validate_python({"type": "ppo_clip", "ratio_min": 0.8, "ratio_max": 1.2})
    for spec in (made(quantile=1.0), made(alpha=0.0, penalty=1.0)):
        found = []
        for one in (spec, plain):
            values, _ = losses.token_loss(one, view(tokens, 3))
            masked = values.masked_fill(~tokens["mask"], 0.0)
            found.append((masked, torch.autograd.grad(masked.sum(), tokens["now"])[0]))
        torch.testing.assert_close(found[0], found[1], rtol=1e-12, atol=1e-14)


def test_the_gain_of_a_good_token_is_shared() -> None:
    """On policy, a good token's gradient is (1 − α) of its own and α/K of each of the likeliest ones."""
    tokens = batch(1)
    tokens["now"] = tokens["then"].clone().requires_grad_()
    tokens["advantages"] = torch.ones_like(tokens["advantages"])
    spec = made(quantile=0.0, alpha=0.4, k=2)
    values, metrics = losses.token_loss(spec, view(tokens, 2))
    (found,) = torch.autograd.grad(values.masked_fill(~tokens["mask"], 0.0).sum(), tokens["now"])
    log_probs = tokens["now"].log_softmax(1)
    best = log_probs.topk(2, dim=1).indices
    own = log_probs.gather(1, tokens["sampled"].unsqueeze(1))[:, 0]
    with torch.no_grad():
        entropies = entropy(tokens["now"])
        least = [
            t
            for n in tokens["sequence"].unique()
            for t in [int(entropies.masked_fill((tokens["sequence"] != n) | ~tokens["mask"], math.inf).argmin())]
        ]
    mixed = 0.6 * own + 0.2 * log_probs.gather(1, best).sum(1)
    mixed = torch.stack([own[t] if t in least else mixed[t] for t in range(len(own))])
    (wanted,) = torch.autograd.grad(-mixed.masked_fill(~tokens["mask"], 0.0).sum(), tokens["now"])
    torch.testing.assert_close(found, wanted, rtol=1e-10, atol=1e-13)
    assert metrics["actor/likeliest_penalised_share"] == 0.0


def test_broken_tokens_outside_the_mask_do_no_harm() -> None:
    clean = batch(2)
    outside = ~clean["mask"]
    found = []
    for filling in (None, math.nan, math.inf):
        tokens = dict(clean)
        if filling is not None:
            broken = clean["now"].detach().clone()
            broken[outside] = filling
            tokens["now"] = broken.requires_grad_()
        values, metrics = losses.token_loss(made(), view(tokens, 3))
        found.append((values[clean["mask"]].tolist(), {n: float(v) for n, v in metrics.items()}))
    assert found[0] == found[1] == found[2]


def test_without_the_likeliest_tokens_it_is_refused() -> None:
    with pytest.raises(ValueError, match="needs the policy's probabilities of its likeliest"):
        losses.token_loss(made(), view(batch(0), 3, candidates=False))


@pytest.mark.parametrize("smoothing", [{"k": 0}, {"alpha": 1.1}, {"quantile": -0.1}, {"penalty": 0.9}], ids=str)
def test_bad_parameters_are_refused(smoothing: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        made(**smoothing)


def test_the_whole_objective_takes_the_likeliest_of_the_logits() -> None:
    spec = make_spec(loss=made().model_dump(), corrections=[])
    groups = make_groups(3, groups=1)
    mine = groups[0].trajectories
    [packed] = pack(mine, 1000)
    logits = torch.randn(len(packed.mask), 64, generator=torch.Generator().manual_seed(1)).requires_grad_()
    counted = Denominators(len(mine), len(packed.mask), {})

    def objective(candidates: Candidates | None, one: Any) -> Tensor:
        logprobs = logits.log_softmax(1).gather(1, packed.targets.unsqueeze(1))[:, 0]
        old = logprobs.detach() + 0.01
        return loss_share(one, packed, logprobs, old, None, counted, Totals(), candidates=candidates)

    seen = own_candidates(spec, packed, logits, entropy(logits).detach())
    assert seen is not None and seen.logprobs.shape == (len(packed.mask), 3)
    best = logits.log_softmax(1).topk(3, dim=1)
    torch.testing.assert_close(seen.logprobs, best.values)
    assert (seen.likeliest == (best.indices[:, 0] == packed.targets)).all()
    found, plain = objective(seen, spec), objective(None, make_spec(corrections=[], loss={"type": "ppo_clip"}))
    assert math.isfinite(found.item())
    (slope,) = torch.autograd.grad(found, logits, retain_graph=True)
    (other,) = torch.autograd.grad(plain, logits)
    assert (slope - other).abs().max() > 1e-6
    assert own_candidates(make_spec(), packed, logits, entropy(logits)) is None


def test_a_run_learns_with_it(policy_dir: Path) -> None:
    spec = make_spec(loss={"type": "ppo_clip", "smoothing": {"alpha": 0.5}}, corrections=[])
    learner, plain = Learner(policy_dir, spec), Learner(policy_dir, make_spec(corrections=[]))
    found = learner.update(make_groups(1), spec, 1)
    plain.update(make_groups(1), make_spec(corrections=[]), 1)
    assert 0.05 < found["actor/smoothed_share"] < 0.2
    assert 0.0 <= found["actor/likeliest_penalised_share"] < 0.2
    mine, theirs = learner.weights(), plain.weights()
    assert max(float(np.abs(mine[name] - theirs[name]).max()) for name in mine) > 1e-6


@pytest.mark.parametrize("size", [1 << 24, 40])
def test_likeliest_log_probabilities_come_by_chunks(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr("trainer_core.update.model.logprobs.CHUNK_ELEMENTS", size)
    made = torch.Generator().manual_seed(3)
    logits = torch.randn(7, 11, generator=made, dtype=torch.float64)
    logits[2, 4] = -math.inf
    logits.requires_grad_()
    temperature = 0.5 + torch.rand(7, generator=made, dtype=torch.float64)
    slopes = torch.randn(7, 3, generator=made, dtype=torch.float64)
    whole = (logits / temperature.unsqueeze(1)).log_softmax(1).topk(3, dim=1)
    found, ids = likeliest_logprobs(logits, temperature, 3)
    torch.testing.assert_close(found, whole.values, rtol=1e-12, atol=1e-14)
    assert (ids == whole.indices).all()
    (one,), (other,) = (torch.autograd.grad((values * slopes).sum(), logits) for values in (found, whole.values))
    torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-14)
    assert likeliest_logprobs(logits[:, :2], temperature, 3)[1].shape == (7, 2)
    assert likeliest_logprobs(logits[:0], temperature[:0], 3)[0].shape == (0, 3)
