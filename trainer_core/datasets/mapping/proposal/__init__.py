"""A first mapping for rows of unknown shape, guessed from the names of their columns and verified on their content.

Uncertain cases are left to the user, with a note: a wrong proposal is worse than none.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from trainer_core.datasets.mapping.document import ChatPrompt, DatasetMapping, MappedAnswer, MappedTests, TemplatePrompt
from trainer_core.datasets.mapping.proposal.answers import AnswerGuess, guess_answer, guess_choice, names_choice
from trainer_core.datasets.mapping.proposal.chats import guess_chat
from trainer_core.datasets.mapping.proposal.columns import FirstRows
from trainer_core.datasets.mapping.proposal.programs import guess_tests
from trainer_core.datasets.mapping.proposal.questions import Question, guess_choices, guess_question
from trainer_core.datasets.mapping.shape import shape_of
from trainer_core.datasets.shape import Row

_ROWS = 200
_LABELS = ("label", "labels", "gold_label", "class", "category_id", "score")
"""Columns of classification datasets, in which a question is the text to classify."""
_NO_ANSWER = "No column certainly holds a gold answer. Choose its column, if there is one."


@dataclass(frozen=True, slots=True)
class Proposal:
    """A mapping, and notes to check before it is used."""

    mapping: DatasetMapping
    notes: tuple[str, ...]


def propose(rows: Sequence[Row]) -> Proposal | None:
    """A mapping that converts all of the first rows; None if no mapping is certain to have the right meaning."""
    if not rows:
        return None
    columns = FirstRows(rows[:_ROWS])
    question = guess_question(columns)
    found = _of_question(columns, question) if question is not None else None
    found = found or _of_chat(columns)
    if found is None:
        return None
    convert = shape_of(found.mapping).convert
    for row in rows[:_ROWS]:
        try:
            convert(row)
        except ValueError:
            return None
    return found


def _of_question(columns: FirstRows, question: Question) -> Proposal | None:
    choices = guess_choices(columns, question)
    template = question.template
    if choices is not None:
        template += f"\n\n{choices.template}"
        answer = guess_choice(columns, choices.paths)
        if answer is None and names_choice(columns):
            return None  # the right option is unknown
    else:
        answer = guess_answer(columns)
    tests = guess_tests(columns)
    told = answer is not None or tests is not None or choices is not None
    if not told and (not question.stands_alone or columns.named(_LABELS)):
        return None
    answer = answer or AnswerGuess(None, (_NO_ANSWER,) if tests is None else ())
    notes = [*question.notes, *answer.notes]
    return Proposal(
        _mapping(columns, TemplatePrompt(kind="columns", template=template), answer.answer, tests), tuple(notes)
    )


def _of_chat(columns: FirstRows) -> Proposal | None:
    chat = guess_chat(columns)
    if chat is None:
        return None
    answer = guess_answer(columns) or AnswerGuess(None, (_NO_ANSWER,))
    return Proposal(_mapping(columns, chat, answer.answer, guess_tests(columns)), answer.notes)


def _mapping(
    columns: FirstRows, prompt: TemplatePrompt | ChatPrompt, answer: MappedAnswer | None, tests: MappedTests | None
) -> DatasetMapping:
    return DatasetMapping(prompt=prompt, answer=answer, tests=tests, json_columns=list(columns.json))
