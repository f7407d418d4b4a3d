"""Completion as a grader sees it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Sample:
    """One completion."""

    output_text: str
    """The whole completion, tags kept."""
    thinking_text: str | None
    """Text between the thinking tags; None if the policy did not think."""
    answer_text: str
    """The completion without its thinking."""
    completion_tokens: int | None
    """None where only the text is known."""
    finish_reason: str = "stop"
    turns: tuple[tuple[str, str], ...] = ()
    """(author, text) of each turn of an episode; empty if the policy had one turn. ``answer_text`` and
    ``thinking_text`` are those of the policy's last turn."""


def split_thinking(text: str, start: str, end: str, answer_start: str | None = None) -> tuple[str | None, str]:
    """Separate thinking from answer: ``(thinking, answer)``.

    Thinking that was opened and never closed leaves no answer. Text without the opening tag is all answer, unless the
    closing tag stands in it: then the prompt had opened the thinking. With ``answer_start``, what stands before its
    last place is no part of the answer.
    """
    thinking, answer = _split(text, start, end)
    if answer_start is not None:
        answer = answer.rpartition(answer_start)[2].strip()
    return thinking, answer


def _split(text: str, start: str, end: str) -> tuple[str | None, str]:
    before, opened, rest = text.partition(start)
    if not opened:
        thinking, closed, answer = text.partition(end)
        return (thinking.strip(), answer.strip()) if closed else (None, text.strip())
    thinking, closed, answer = rest.partition(end)
    if not closed:
        return rest.strip(), ""
    return thinking.strip(), f"{before}{answer}".strip()
