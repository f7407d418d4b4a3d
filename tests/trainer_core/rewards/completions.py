"""Samples for grader tests."""

from trainer_core.rewards import Sample, split_thinking


def sample(text: str, *, tokens: int = 10, start: str = "<think>", end: str = "</think>") -> Sample:
    """The sample that a reward worker would make of ``text``."""
    thinking, answer = split_thinking(text, start, end)
    return Sample(text, thinking, answer, tokens)
