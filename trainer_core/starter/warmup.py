"""The supervised warm-up, in two acts: learn to think, then mostly stop thinking.

Act one shows only responses that think first, until the hand method works. Act two shows a mixture in which most
responses blurt out the answer. The policy then thinks in a minority of its samples, which are nearly always correct,
and blurts in the others, which seldom are. So reinforcement learning has something to discover.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from transformers import PreTrainedModel, PreTrainedTokenizerBase

RAMP_STEPS = 30
IGNORED = -100

DrawTexts = Callable[[random.Random, int], list[tuple[str, str]]]
"""Draws the given number of problems and writes the target response of each, including its end-of-sequence token."""


@dataclass(frozen=True, slots=True)
class Act:
    """One stretch of supervised training; the learning rate rises over 30 steps and then falls linearly to zero."""

    steps: int
    batch_size: int
    draw_texts: DrawTexts
    """Problems with their responses, as the act shows them."""
    matrix_learning_rate: float
    """Learning rate of Muon, which trains the matrices inside the layers. It needs about half of AdamW's steps here."""
    learning_rate: float
    """Learning rate of AdamW, which trains embeddings and norms."""
    cut_by: Literal["prompt", "response"] = "prompt"
    """Batches hold prompts or responses of similar length. If short responses are of a different kind than long ones,
    such as blurted answers, cutting by response would make each batch a single kind."""
    pool: int = 4
    """Number of batches that are drawn together and then cut by length."""


def train_act(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    act: Act,
    rng: random.Random,
    report: Callable[[int, float], None] | None = None,
) -> list[float]:
    """Train ``model`` in place on drawn problems.

    Args:
        model: the policy.
        tokenizer: its tokenizer.
        act: the texts to show, and for how long.
        rng: draws problems and responses.
        report: called after each step with the number of steps done and the loss.

    Returns:
        The loss of each step: mean cross-entropy per response token, in nats.
    """
    experts = _experts(model)
    optimizers = _optimizers(model, act, [expert for expert, _, _ in experts])
    schedules = [
        torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda step: min((step + 1) / RAMP_STEPS, 1.0) * (1.0 - step / act.steps)
        )
        for optimizer in optimizers
    ]
    losses = []
    model.train()
    batches = _batches(tokenizer, act, rng)
    for step in range(act.steps):
        input_ids, labels, weight = next(batches)
        logits = model(input_ids=input_ids[:, :-1], use_cache=False).logits
        targets = labels[:, 1:]
        chosen = targets != IGNORED
        loss = cross_entropy(logits[chosen], targets[chosen])
        model.zero_grad()
        (weight * loss).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for expert, source, index in experts:
            expert.grad = None if source.grad is None else source.grad[index]
        for optimizer, schedule in zip(optimizers, schedules, strict=True):
            optimizer.step()
            schedule.step()
        losses.append(loss.item())
        if report is not None:
            report(step + 1, losses[-1])
    model.eval()
    return losses


def _experts(model: PreTrainedModel) -> list[tuple[Tensor, nn.Parameter, int]]:
    """The matrices of experts, which models store stacked. Each shares the memory of its stack."""
    stacks = [p for p in model.parameters() if p.ndim == 3]
    return [(matrix, stack, index) for stack in stacks for index, matrix in enumerate(stack.detach().unbind())]


def _optimizers(model: PreTrainedModel, act: Act, experts: list[Tensor]) -> list[torch.optim.Optimizer]:
    own = [p for name, p in model.named_parameters() if p.ndim == 2 and "embed" not in name]
    matrices = [*own, *(expert.requires_grad_() for expert in experts)]
    others = [p for name, p in model.named_parameters() if p.ndim < 2 or "embed" in name]
    return [
        torch.optim.Muon(matrices, lr=act.matrix_learning_rate, momentum=0.95, weight_decay=0.01),
        torch.optim.AdamW(others, lr=act.learning_rate, betas=(0.9, 0.95), weight_decay=0.0),
    ]


def _batches(
    tokenizer: PreTrainedTokenizerBase, act: Act, rng: random.Random
) -> Iterator[tuple[Tensor, Tensor, float]]:
    """Endless batches, each with its weight. Several are drawn at a time and cut by length, which saves padding.

    Batches cut by response are weighted by their number of tokens. Otherwise the choices made once per response would
    hardly count in long ones, and the policy would learn to be brief.
    """
    while True:
        texts = act.draw_texts(rng, act.pool * act.batch_size)
        texts.sort(key=lambda text: len(text[0]) if act.cut_by == "prompt" else len(text[1]))
        starts = [index * act.batch_size for index in range(act.pool)]
        rng.shuffle(starts)
        mean_length = sum(len(text[1]) for text in texts) / len(texts)
        for start in starts:
            chosen = texts[start : start + act.batch_size]
            length = sum(len(text[1]) for text in chosen) / len(chosen)
            weight = length / mean_length if act.cut_by == "response" else 1.0
            yield *_batch(tokenizer, chosen), weight


def _batch(tokenizer: PreTrainedTokenizerBase, texts: list[tuple[str, str]]) -> tuple[Tensor, Tensor]:
    """Token ids and labels of (prompt, response) pairs, both [B, T], padded on the right; prompts have no labels.

    No attention mask is needed: attention is causal, so nothing that counts can see the padding.
    """
    prompts = tokenizer([prompt for prompt, _ in texts])["input_ids"]
    responses = tokenizer([response for _, response in texts])["input_ids"]
    longest = max(len(p) + len(r) for p, r in zip(prompts, responses, strict=True))
    input_ids = torch.full((len(texts), longest), tokenizer.pad_token_id)
    labels = torch.full((len(texts), longest), IGNORED)
    for row, (prompt, response) in enumerate(zip(prompts, responses, strict=True)):
        end = len(prompt) + len(response)
        input_ids[row, :end] = torch.tensor(prompt + response)
        labels[row, len(prompt) : end] = torch.tensor(response)
    return input_ids, labels
