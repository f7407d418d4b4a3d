"""Verifies a variation: a model answers it several times, and the answers are compared with the gold answer.

Source: majority voting as in self-consistency (arXiv 2203.11171), compared with the gold answer.
"""

from collections import Counter
from dataclasses import dataclass

from dressage.lab.arguments import SynthesiseRows
from dressage.lab.asking.client import RowAsker
from dressage.lab.synthesis.checks import VariationRefusal
from dressage.lab.synthesis.grading import AnswerGrading
from dressage.lab.synthesis.prompts import WrittenQuestion, answering
from dressage.lab.synthesis.source import SourceRow
from trainer_core.link.judge_chat import CutOffError
from trainer_core.rewards.graders.model.judge import JudgeError


@dataclass(frozen=True, slots=True)
class Verification:
    """Result of the answers to a variation."""

    pass_rate: float | None
    """Share of right answers among those graded; None if none was graded."""
    refusal: VariationRefusal | None


def verify(
    source: SourceRow, written: WrittenQuestion, operation: SynthesiseRows, asker: RowAsker, grading: AnswerGrading
) -> Verification:
    """Have a variation answered until its result is certain.

    A truncated answer is wrong, as in a run. An answer that could not be graded does not count.

    Raises:
        JudgeError: the model did not answer.
    """
    row = source.with_text(written.text, written.answer)
    right = wrong = cut = 0
    said: Counter[str] = Counter()
    error = ""
    for attempt in range(1, operation.attempts + 1):
        try:
            answer = asker.other.ask(answering(source, written.text, operation, attempt), str)
        except CutOffError:
            wrong, cut = wrong + 1, cut + 1
        else:
            graded = grading.grade(answer, row)
            if graded.right is None:
                error = graded.error
            elif graded.right:
                right += 1
            else:
                wrong += 1
                said.update([graded.said] if graded.said else [])
        left = operation.attempts - attempt
        if (right + left) < operation.least_pass_rate * (right + wrong + left) - 1e-9:
            break  # the other answers no longer matter
    if right + wrong == 0:
        return Verification(None, VariationRefusal("ungraded", f"No answer could be graded: {error}"))
    rate = right / (right + wrong)
    return Verification(rate, _refusal(operation, right, wrong, cut, said))


def _refusal(
    operation: SynthesiseRows, right: int, wrong: int, cut: int, said: Counter[str]
) -> VariationRefusal | None:
    answers, rate = right + wrong, right / (right + wrong)
    told = f"{right} of {answers} {'answer was' if answers == 1 else 'answers were'} right"
    rival, votes = next(iter(said.most_common(1)), ("", 0))
    if cut:
        told += f", {cut} truncated at {operation.max_tokens:,} tokens"
    if votes:
        told += f"; {votes} said {rival[:60]!r}"
    if rate < operation.least_pass_rate - 1e-9:
        return VariationRefusal("rarely_right", f"{told}.")
    if votes >= right:
        return VariationRefusal("outvoted", f"{told}.")
    if rate > operation.most_pass_rate + 1e-9:
        return VariationRefusal("too_easy", f"{told}.")
    return None


def unanswered(error: JudgeError) -> VariationRefusal:
    """The refusal of a variation that the model did not answer."""
    return VariationRefusal("unanswered", str(error)[:500])
