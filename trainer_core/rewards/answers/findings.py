"""Findings: what is wrong with a batch of answers, with the cause in figures and what to change."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal, get_args

from trainer_core.rewards.answers.facts import AnswerFacts, GroupFacts
from trainer_core.rewards.answers.marks import TELLS, Mark
from trainer_core.rewards.answers.reading import Reading

FindingKind = Literal[
    "no_generation_prompt",
    "all_cut",
    "thinking_open",
    "empty_answers",
    "same_answer",
    "constant_reward",
    "no_signal",
    "no_place",
]
KINDS: Final[tuple[FindingKind, ...]] = get_args(FindingKind)

LEAST_ANSWERS = 8
"""Answers below which nothing is said of a batch."""
NEARLY_ALL = 0.95
"""Share of answers from which it is "all" of them that are cut, or the same."""
HALF = 0.5
"""Share of answers that are empty, or of thinking that is never closed, from which that is a finding."""
FEW = 0.1
"""Share of answers below which hardly any holds what the reward reads."""
_COMMON = 0.25
"""Share of answers from which a mark is told of as what they have instead."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong."""

    kind: FindingKind
    title: str
    """A few words."""
    message: str
    """The cause in figures, as sentences."""
    advice: str
    """What to change, as a sentence."""
    share: float
    """Share of the answers, or groups, that it concerns."""


def findings(groups: Sequence[GroupFacts], places: Sequence[Reading], limit: int | None = None) -> list[Finding]:
    """Everything that is wrong with these groups, the cause of the others first.

    Args:
        groups: the groups of one step, of several, or of a rehearsal.
        places: the places that the reward reads.
        limit: the limit of answers' length, in tokens; None where it is not the same for all.
    """
    answers = [answer for group in groups for answer in group.answers]
    if len(answers) < LEAST_ANSWERS:
        return []
    found = [
        _all_cut(answers, limit),
        _thinking_open(answers),
        _empty(answers),
        _same(groups, answers),
        _constant(answers, places),
        _no_signal(groups, answers, places),
    ]
    told = [finding for finding in found if finding is not None]
    return told or _no_place(answers, places)  # the others tell of it themselves


def no_generation_prompt(template: str) -> Finding:
    """The finding that a chat template ends its prompts without the beginning of the assistant's turn.

    Args:
        template: what names the template to a person.
    """
    return Finding(
        "no_generation_prompt",
        "The chat template adds no generation prompt",
        f"{template} renders the same prompt with and without add_generation_prompt: prompts end with the user's turn, "
        "and the policy goes on with that.",
        "Take a template that begins the assistant's turn where add_generation_prompt is set.",
        1.0,
    )


def cause(answers: Sequence[AnswerFacts], places: Sequence[Reading]) -> tuple[str, str]:
    """(What the answers hold in figures, what to change), for rewards without a signal."""
    total = len(answers)
    for place in places:
        with_place = sum(place.component in answer.read for answer in answers)
        if with_place <= FEW * total:
            return _lacking(answers, place, with_place)
    rewards = [answer.reward for answer in answers if answer.reward is not None]
    figures = [
        f"{sum(place.component in answer.read for answer in answers)} of {total} answers {_tells(place)}"
        for place in places
    ]
    if len(set(rewards)) > 1:
        figures.append(f"rewards go from {min(rewards):g} to {max(rewards):g}")
    told = f"{', '.join(figures)}." if figures else f"{len(rewards)} of {total} answers have a reward."
    told = told[0].upper() + told[1:]
    if rewards and min(rewards) > 0:
        return told, "The prompts are too easy for the policy: take harder ones."
    return told, (
        "Compare samples with the rows' references: the prompts may be too hard for the policy, or the reference is "
        "not in the form that the grader reads."
    )


def _lacking(answers: Sequence[AnswerFacts], place: Reading, with_place: int) -> tuple[str, str]:
    counts: Counter[Mark] = Counter(mark for answer in answers for mark in answer.marks)
    first = f"{with_place} of {len(answers)} answers {_tells(place)}"
    instead: list[Mark] = ["empty", "boxed", "answer_tags", "hashes", "code", "ends_in_number", "choice", "answer_line"]
    others = [mark for mark in instead if mark != place.mark and counts[mark] >= _COMMON * len(answers)]
    told = ", ".join([first, *(f"{counts[mark]} {TELLS[mark]}" for mark in others)])
    unclosed = sum(answer.thinking == "open" for answer in answers)
    if unclosed > HALF * len(answers):
        return f"{told}: {unclosed} never close their thinking.", _CLOSE_THINKING
    cut = sum(answer.cut for answer in answers)
    if cut > HALF * len(answers):
        return f"{told}: {cut} are cut at the limit.", _MORE_ROOM
    return f"{told}. The part “{place.component}” of the reward reads the {place.place}.", place.advice


def _no_place(answers: Sequence[AnswerFacts], places: Sequence[Reading]) -> list[Finding]:
    """Told where some rewards differ all the same: a few answers have the place, or another part of the reward pays."""
    for place in places:
        with_place = sum(place.component in answer.read for answer in answers)
        if with_place <= FEW * len(answers):
            message, advice = _lacking(answers, place, with_place)
            share = 1.0 - with_place / len(answers)
            return [Finding("no_place", "Answers lack what the reward reads", message, advice, share)]
    return []


def _tells(place: Reading) -> str:
    """The place's own words where they differ from the mark's, as tags of a grader's own do."""
    return f"hold {place.place}" if place.mark == "answer_tags" else TELLS[place.mark]


_MORE_ROOM = "Raise rollout.max_tokens, ask for shorter answers in the prompt, or set a thinking budget."
_CLOSE_THINKING = (
    "Set thinking.budget, so that thinking is ended in time, raise rollout.max_tokens, and check that thinking.end is "
    "the tag that this policy writes."
)


def _all_cut(answers: Sequence[AnswerFacts], limit: int | None) -> Finding | None:
    cut = sum(answer.cut for answer in answers)
    if cut < NEARLY_ALL * len(answers):
        return None
    at = "their limit" if limit is None else f"max_tokens = {limit}"
    message = f"{cut} of {len(answers)} answers are cut at {at} before they end by themselves."
    return Finding("all_cut", "All answers are cut at the limit", message, _MORE_ROOM, cut / len(answers))


def _thinking_open(answers: Sequence[AnswerFacts]) -> Finding | None:
    opened = [answer for answer in answers if answer.thinking != "none"]
    never = sum(answer.thinking == "open" for answer in opened)
    if len(opened) < LEAST_ANSWERS or never < HALF * len(opened):
        return None
    cut = sum(answer.cut for answer in opened if answer.thinking == "open")
    message = f"{never} of {len(opened)} answers that think never close their thinking; {cut} of them are cut."
    return Finding("thinking_open", "Thinking is never closed", message, _CLOSE_THINKING, never / len(opened))


def _empty(answers: Sequence[AnswerFacts]) -> Finding | None:
    empty = [answer for answer in answers if "empty" in answer.marks]
    inside = sum(answer.thinking == "open" for answer in empty)
    if len(empty) < HALF * len(answers) or inside > HALF * len(empty):
        return None  # thinking that is never closed leaves no answer: that is told by its own name
    message = f"{len(empty)} of {len(answers)} answers are empty."
    advice = (
        "Look at a prompt as the policy sees it: it may end where the policy expects its own turn to be over, such as "
        "behind an end-of-sequence token."
    )
    return Finding("empty_answers", "Answers are empty", message, advice, len(empty) / len(answers))


def _same(groups: Sequence[GroupFacts], answers: Sequence[AnswerFacts]) -> Finding | None:
    prompts = len({group.prompt_id for group in groups})
    spoken = [answer for answer in answers if "empty" not in answer.marks]
    if prompts < 2 or len(spoken) < LEAST_ANSWERS:
        return None
    most = max(Counter(answer.digest for answer in spoken).values())
    if most < NEARLY_ALL * len(answers):
        return None
    message = f"{most} of {len(answers)} answers to {prompts} prompts are the same text."
    advice = (
        "Check that the prompt's text reaches the policy; in a run, lower the learning rate and resume from before."
    )
    return Finding("same_answer", "The same answer for every prompt", message, advice, most / len(answers))


def _constant(answers: Sequence[AnswerFacts], places: Sequence[Reading]) -> Finding | None:
    rewards = [answer.reward for answer in answers if answer.reward is not None]
    if len(rewards) < LEAST_ANSWERS or len(set(rewards)) > 1:
        return None
    why, advice = cause(answers, places)
    message = f"All {len(rewards)} rewards are {rewards[0]:g}. {why}"
    return Finding("constant_reward", "The reward is constant", message, advice, 1.0)


def _no_signal(
    groups: Sequence[GroupFacts], answers: Sequence[AnswerFacts], places: Sequence[Reading]
) -> Finding | None:
    compared = [group for group in groups if len(group.rewards) > 1]
    if not compared or any(group.has_signal for group in compared):
        return None
    why, advice = cause(answers, places)
    message = f"In each of {len(compared)} groups all rewards are equal. {why}"
    return Finding("no_signal", "No group has a signal", message, advice, 1.0)
