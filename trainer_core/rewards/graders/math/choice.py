"""The letter of a multiple choice, in a box or read from prose."""

from collections.abc import Mapping
from typing import Any, Literal

from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.grader_model import GraderModel
from trainer_core.rewards.graders.math import extract
from trainer_core.rewards.graders.reference import reference_texts
from trainer_core.rewards.mathematics import choices
from trainer_core.rewards.reasons import quoted, tell
from trainer_core.rewards.sample import Sample
from trainer_core.spec.base import field


class ChoiceGrader(GraderModel):
    """1 if the answer settles on the gold letter, else 0.

    The last ``\\boxed{}`` counts where there is one, else ``<answer>`` tags, else the last "the answer is (B)", else a
    letter in the last line. An answer that names several letters, or says what the answer is not, settles on none.
    """

    type: Literal["choice"] = "choice"
    reference: str = field("answer", min_length=1, max_length=200)
    """Field of the dataset row that holds the gold letter, such as B or (B), or the number of the choice, from 0; or a
    list of accepted ones."""
    letters: str = field("ABCDEFGHIJ", min_length=2, max_length=10, pattern="^[A-J]+$")
    """Letters of the choices; no other counts as an answer."""

    @property
    def row_columns(self) -> tuple[str, ...]:
        """Columns without which no row can be graded."""
        return (self.reference,)

    def grade(self, sample: Sample, item: Mapping[str, Any]) -> float:
        """1.0 or 0.0. Raises GraderError where the gold answer is no letter of the choices."""
        golds = [self._gold(text) for text in reference_texts(item, self.reference)]
        letter = choices_letter(sample.answer_text, self.letters)
        settles = "settles on no letter" if letter is None else f"settles on {quoted(letter)}"
        tell(f"The answer {settles}; the gold letter is {' or '.join(map(quoted, golds))}.")
        return float(letter in golds)

    def _gold(self, reference: str) -> str:
        text = extract.unwrapped(reference)
        if text.isdigit() and int(text) < len(self.letters):
            return self.letters[int(text)]
        before = choices.in_front(text)
        letter = choices.alone(text) or (before[0] if before else None)
        if letter is None or letter not in self.letters:
            raise GraderError(f"the gold answer {text[:60]!r} is none of the letters {self.letters}")
        return letter


def choices_letter(text: str, letters: str = choices.LETTERS) -> str | None:
    """The letter that an answer settles on, None where it settles on none or on several."""
    inner = extract.boxed_answer(text)
    if inner is None:
        inner = extract.tagged(text, "<answer>", "</answer>")
    if inner is None:
        return choices.in_prose(text, letters)
    before = choices.in_front(inner)
    found = choices.alone(inner) or (before[0] if before else None) or choices.in_prose(inner, letters)
    return found if found is not None and found in letters else None
