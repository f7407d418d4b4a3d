"""Places in an answer that the parts of a reward read."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from trainer_core.rewards.answers.marks import Mark
from trainer_core.rewards.definition import RewardDefinition
from trainer_core.rewards.grader_model import GraderModel
from trainer_core.rewards.graders import leaves
from trainer_core.rewards.graders.code import code_blocks
from trainer_core.rewards.graders.code.code_tests import CodeTestsGrader
from trainer_core.rewards.graders.math import extract
from trainer_core.rewards.graders.math.choice import ChoiceGrader, choices_letter
from trainer_core.rewards.graders.math.math import MathGrader
from trainer_core.rewards.graders.math.numeric import NumericGrader
from trainer_core.rewards.graders.text.magistral_format import MagistralFormatGrader


@dataclass(frozen=True, slots=True)
class Reading:
    """Place in an answer that a part of a reward reads."""

    component: str
    """Name of the part."""
    place: str
    """Words for the place, such as ``\\boxed{}``."""
    mark: Mark
    """Mark of the answers that have it."""
    find: Callable[[str], str | None]
    """Text that stands there; None where the answer lacks the place."""
    advice: str
    """What to change where answers lack it."""
    reference: str | None = None
    """Field of the dataset row with which it is compared."""


def readings(definition: RewardDefinition) -> tuple[Reading, ...]:
    """The places that the parts read; parts that look at the whole answer have none."""
    found = []
    for component in definition.components:
        for leaf in leaves(component.grader):
            if (reading := _reading(component.name, leaf)) is not None:
                found.append(reading)
    return tuple(found)


def _reading(component: str, grader: GraderModel) -> Reading | None:
    if isinstance(grader, MathGrader):
        return _math(component, grader)
    if isinstance(grader, NumericGrader):
        advice = "Ask for a number in the prompt, or grade with a grader that reads what the answers hold."
        return Reading(component, "last number", "number", extract.last_number_text, advice, grader.reference)
    if isinstance(grader, ChoiceGrader):
        find = partial(choices_letter, letters=grader.letters)
        return Reading(component, "letter of a choice", "choice", find, _ASK_LETTER, grader.reference)
    if isinstance(grader, MagistralFormatGrader):
        if grader.answer == "boxed":
            return Reading(component, "\\boxed{}", "boxed", extract.boxed_answer, _ASK_BOX)
        return Reading(component, "fenced code block", "code", _fenced, _ASK_FENCE)
    if isinstance(grader, CodeTestsGrader):
        return Reading(component, "fenced code block", "code", _fenced, _ASK_FENCE)
    return None


def _math(component: str, grader: MathGrader) -> Reading | None:
    match grader.extraction:
        case "auto":
            find = extract.final_answer
            return Reading(component, grader.place, "final_answer", find, _ASK_ANSWER, grader.reference)
        case "boxed":
            return Reading(component, grader.place, "boxed", extract.boxed_answer, _ASK_BOX, grader.reference)
        case "last_number":
            advice = "Ask for a number in the prompt."
            return Reading(component, grader.place, "number", extract.last_number_text, advice, grader.reference)
        case "tagged":
            start, end = grader.tag_start, grader.tag_end
            advice = f"Ask in the prompt for the final answer between {start} and {end}."
            find = partial(extract.tagged, start=start, end=end)
            return Reading(component, grader.place, "answer_tags", find, advice, grader.reference)
    return None


_ASK_BOX = (
    "Ask for it in the prompt (“Put your final answer in \\boxed{}.”), or have the grader read what the answers hold, "
    "such as extraction: last_number."
)
_ASK_ANSWER = (
    "Ask in the prompt for a final answer (“Put your final answer in \\boxed{}.”): none stands in a box, in answer "
    "tags, behind “the answer is” or #### or in the last line."
)
_ASK_LETTER = "Ask in the prompt for one letter (“End with: The answer is (X).”)."
_ASK_FENCE = "Ask in the prompt for the program in a fenced code block."


def _fenced(text: str) -> str | None:
    return code_blocks.program(text) if code_blocks.has_fence(text) else None
