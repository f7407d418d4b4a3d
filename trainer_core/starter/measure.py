"""Measurement of a policy's responses: sampled accuracy, share of thinking, and length."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import torch
from torch import Tensor
from torch.nn.functional import pad
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from trainer_core.starter.problems import ArithmeticProblem, Operation, draw_problem
from trainer_core.starter.tokenizer import THINK_END, THINK_START


@dataclass(frozen=True, slots=True)
class Measurement:
    """Shares of one sample per problem at temperature 1; None if no response is in the class."""

    accuracy: float
    thinking_share: float
    """Share of responses that open with the thinking tag."""
    thinking_accuracy: float | None
    blurting_accuracy: float | None
    mean_tokens: float
    """Response length, end of sequence included."""


def draw_problems(count: int, shares: Mapping[Operation, float], seed: int) -> list[ArithmeticProblem]:
    """Problems to measure on, from the warm-up's own distribution."""
    rng = random.Random(seed)
    return [draw_problem(rng, shares) for _ in range(count)]


def measure(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    problems: Sequence[ArithmeticProblem],
    seed: int,
    max_new_tokens: int,
) -> Measurement:
    """Sample one response per problem and grade it exactly.

    Args:
        model: the policy.
        tokenizer: pads on the left.
        problems: at least one.
        seed: the seed of the sampling; the global random state is not changed.
        max_new_tokens: responses that have not ended by then count as wrong.
    """
    if not problems:
        raise ValueError("nothing to measure: no problems given")
    padded = "linear_attention" not in (getattr(model.config, "layer_types", None) or ())
    with torch.random.fork_rng(), torch.inference_mode():
        torch.manual_seed(seed)
        if not padded:
            problems = sorted(problems, key=lambda problem: len(problem.prompt))
        # transformers' lightning attention loses a row's state if the row begins with padding.
        batches = [list(problems)] if padded else [list(g) for _, g in groupby(problems, lambda p: len(p.prompt))]
        found = [_sample(model, tokenizer, batch, max_new_tokens) for batch in batches]
    longest = max(part.shape[1] for part in found)
    filler = tokenizer.pad_token_id
    responses = torch.cat([pad(part, (0, longest - part.shape[1]), value=filler) for part in found])
    texts = tokenizer.batch_decode(responses, skip_special_tokens=True)
    ended = (responses == tokenizer.eos_token_id).any(dim=1).tolist()
    right = [e and answer_of(t) == str(p.answer) for e, t, p in zip(ended, texts, problems, strict=True)]
    thinks = [text.startswith(THINK_START) for text in texts]
    return Measurement(
        accuracy=sum(right) / len(right),
        thinking_share=sum(thinks) / len(thinks),
        thinking_accuracy=_mean([r for r, t in zip(right, thinks, strict=True) if t]),
        blurting_accuracy=_mean([r for r, t in zip(right, thinks, strict=True) if not t]),
        mean_tokens=float((responses != tokenizer.pad_token_id).sum() / len(problems)),
    )


def _sample(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    problems: Sequence[ArithmeticProblem],
    max_new_tokens: int,
) -> Tensor:
    """One response to each problem, int64 [B, T]."""
    inputs = tokenizer([problem.prompt for problem in problems], return_tensors="pt", padding=True)
    outputs: Tensor = model.generate(**inputs, do_sample=True, temperature=1.0, max_new_tokens=max_new_tokens)
    return outputs[:, inputs["input_ids"].shape[1] :]


def answer_of(response: str) -> str:
    """Text after the thinking; the whole response if there is none."""
    return response.rpartition(THINK_END)[2]


def _mean(values: list[bool]) -> float | None:
    return sum(values) / len(values) if values else None
