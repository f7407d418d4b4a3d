"""Statistics of answers' texts: what they hold, what the reward reads of them, and what is wrong with a batch."""

from trainer_core.rewards.answers.facts import AnswerFacts, GroupFacts, group_facts
from trainer_core.rewards.answers.findings import Finding, FindingKind, findings, no_generation_prompt
from trainer_core.rewards.answers.reading import Reading, readings

__all__ = [
    "AnswerFacts",
    "Finding",
    "FindingKind",
    "GroupFacts",
    "Reading",
    "findings",
    "group_facts",
    "no_generation_prompt",
    "readings",
]
