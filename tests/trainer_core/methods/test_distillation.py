"""On-policy distillation and the supervised term: values and gradients in float64."""

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from trainer_core.methods.losses.distillation import full_distribution, sampled_token, sparse_distribution
from trainer_core.methods.losses.supervised import negative_log_likelihood

SIZE = 7


def policies(seed: int, rows: int = 5) -> tuple[Tensor, Tensor]:
    """The policy's logits, with gradient, and the teacher's log-probabilities."""
    generator = torch.Generator().manual_seed(seed)
    logits, teacher = (torch.randn(rows, SIZE, generator=generator, dtype=torch.float64) for _ in range(2))
    return logits.requires_grad_(), (1.5 * teacher).log_softmax(-1)


def divergence(logits: Tensor, teacher: Tensor) -> Tensor:
    """KL(π ‖ teacher), token of the vocabulary by token."""
    p = torch.softmax(logits, -1)
    return sum((p[:, v] * (p[:, v].log() - teacher[:, v]) for v in range(SIZE)), torch.zeros(len(logits)))


def gradient(values: Tensor, logits: Tensor) -> Tensor:
    (found,) = torch.autograd.grad(values.sum(), logits, retain_graph=True)
    return found


@pytest.mark.parametrize("seed", [0, 1])
def test_the_full_distribution_is_the_divergence(seed: int) -> None:
    logits, teacher = policies(seed)
    values, expected = full_distribution(logits.log_softmax(-1), teacher), divergence(logits, teacher)
    torch.testing.assert_close(values, expected, rtol=1e-12, atol=1e-14)
    torch.testing.assert_close(gradient(values, logits), gradient(expected, logits), rtol=1e-11, atol=1e-14)


def test_the_sampled_token_has_the_gradient_of_the_divergence_on_average() -> None:
    logits, teacher = policies(2)
    logprobs = logits.log_softmax(-1)
    each = torch.stack([sampled_token(logprobs[:, v], teacher[:, v]) for v in range(SIZE)], dim=1)
    expected = gradient(divergence(logits, teacher), logits)
    torch.testing.assert_close(gradient(logprobs.detach().exp() * each, logits), expected, rtol=1e-11, atol=1e-14)


def test_the_sampled_token_is_a_policy_gradient_by_hand() -> None:
    logprobs = torch.tensor([-1.0, -2.0], dtype=torch.float64, requires_grad=True)
    values = sampled_token(logprobs, torch.tensor([-3.0, -0.5], dtype=torch.float64))
    assert values.tolist() == [2.0, 1.125]
    # −A · ∇log π with A = log π_teacher − log π: the first is pushed down, the second up.
    assert gradient(values, logprobs).tolist() == [2.0, -1.5]


@pytest.mark.parametrize("k", [1, 2, 4])
def test_the_sparse_distribution_has_k_parts_and_the_rest(k: int) -> None:
    logits, teacher = policies(3)
    top, ids = teacher.topk(k)
    values = sparse_distribution(logits.log_softmax(-1), top, ids)
    p, q = torch.softmax(logits, -1), teacher.exp()
    expected = torch.zeros(len(logits), dtype=torch.float64)
    for n in range(len(logits)):
        inside = ids[n].tolist()
        for v in inside:
            expected[n] = expected[n] + p[n, v] * (p[n, v] / q[n, v]).log()
        outside = [v for v in range(SIZE) if v not in inside]
        expected[n] = expected[n] + p[n, outside].sum() * (p[n, outside].sum() / q[n, outside].sum()).log()
    torch.testing.assert_close(values, expected, rtol=1e-11, atol=1e-13)
    torch.testing.assert_close(gradient(values, logits), gradient(expected, logits), rtol=1e-10, atol=1e-13)
    assert (values >= 0).all() and (values <= divergence(logits, teacher) + 1e-14).all()


def test_the_whole_vocabulary_as_sparse_distribution_is_the_full_one() -> None:
    logits, teacher = policies(4)
    values = sparse_distribution(logits.log_softmax(-1), *teacher.topk(SIZE))
    torch.testing.assert_close(values, divergence(logits, teacher), rtol=1e-9, atol=1e-12)
    assert torch.isfinite(gradient(values, logits)).all()


def test_equal_distributions_rest() -> None:
    logits, _ = policies(5)
    teacher = logits.detach().log_softmax(-1)
    top, ids = teacher.topk(3)
    for values in (
        full_distribution(logits.log_softmax(-1), teacher),
        sparse_distribution(logits.log_softmax(-1), top, ids),
    ):
        assert values.abs().max() < 1e-14 and gradient(values, logits).abs().max() < 1e-14


def test_impossible_tokens() -> None:
    logits = torch.tensor([[0.0, 0.0, -math.inf]], dtype=torch.float64, requires_grad=True)
    teacher = torch.tensor([[0.5, 0.25, 0.25]], dtype=torch.float64).log()
    values = full_distribution(logits.log_softmax(-1), teacher)
    assert values.item() == pytest.approx(0.5 * math.log(2), rel=1e-12)
    impossible = torch.tensor([[1.0, 0.0, 0.0]], dtype=torch.float64).log()
    assert full_distribution(logits.log_softmax(-1), impossible).item() == math.inf


@pytest.mark.parametrize("form", [full_distribution, sampled_token])
def test_the_teacher_gets_no_gradient(form: Callable[[Tensor, Tensor], Tensor]) -> None:
    teacher = torch.tensor([[-1.0, -0.5]], requires_grad=True)
    form(torch.tensor([[-0.5, -1.0]], requires_grad=True), teacher).sum().backward()
    assert teacher.grad is None


def test_negative_log_likelihood_by_hand() -> None:
    logprobs = torch.tensor([-1.0, -2.0, -math.inf, math.nan], dtype=torch.float64, requires_grad=True)
    values = negative_log_likelihood(logprobs, torch.tensor([True, True, False, False]))
    assert values.tolist() == [1.0, 2.0, 0.0, 0.0]
    assert gradient(values, logprobs).tolist() == [-1.0, -1.0, 0.0, 0.0]
