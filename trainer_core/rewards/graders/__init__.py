"""Graders: one file each, parameters and function together. Each returns a number, or raises ``GraderError``."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from trainer_core.rewards.graders import composite, multi
from trainer_core.rewards.graders.code_tests import CodeTestsGrader
from trainer_core.rewards.graders.composite import CompositeGrader
from trainer_core.rewards.graders.exact import ExactGrader
from trainer_core.rewards.graders.format import FormatGrader
from trainer_core.rewards.graders.ifeval import IfevalGrader
from trainer_core.rewards.graders.jail import Jail
from trainer_core.rewards.graders.json_schema import JsonSchemaGrader
from trainer_core.rewards.graders.language import LanguageGrader
from trainer_core.rewards.graders.length_penalty import LengthPenaltyGrader
from trainer_core.rewards.graders.magistral_format import MagistralFormatGrader
from trainer_core.rewards.graders.math import MathGrader
from trainer_core.rewards.graders.multi import MultiGrader
from trainer_core.rewards.graders.numeric import NumericGrader
from trainer_core.rewards.graders.python import PythonGrader
from trainer_core.rewards.graders.regex_match import RegexGrader
from trainer_core.rewards.graders.string_check import StringCheckGrader
from trainer_core.rewards.graders.text_similarity import TextSimilarityGrader
from trainer_core.rewards.sample import Sample

Grader = Annotated[
    ExactGrader
    | NumericGrader
    | MathGrader
    | CodeTestsGrader
    | PythonGrader
    | StringCheckGrader
    | TextSimilarityGrader
    | RegexGrader
    | JsonSchemaGrader
    | FormatGrader
    | MagistralFormatGrader
    | LanguageGrader
    | IfevalGrader
    | LengthPenaltyGrader
    | MultiGrader
    | CompositeGrader,
    Field(discriminator="type"),
]
JailedGrader = MathGrader | CodeTestsGrader | PythonGrader
"""Graders that run untrusted text, and so need the jail."""

for _model in (composite.Part, CompositeGrader, multi.MultiGrader):
    _model.model_rebuild(_types_namespace={"Grader": Grader, "Part": composite.Part, "Mapping": Mapping})


def grade(grader: Grader, sample: Sample, item: Mapping[str, Any], jail: Jail | None = None) -> float:
    """The grade of ``sample`` for the dataset row ``item``.

    Raises:
        GraderError: the reward cannot be computed. JailError, which is one, where a jail is needed and there is none.
    """
    match grader:
        case MathGrader() | CodeTestsGrader() | PythonGrader():
            return grader.grade(sample, item, jail)
        case MultiGrader() | CompositeGrader():
            return grader.combine(lambda part: grade(part, sample, item, jail))
        case _:
            return grader.grade(sample, item)


def needs_jail(grader: Grader) -> bool:
    """Whether the grader, or one inside it, runs untrusted text."""
    match grader:
        case MultiGrader():
            return any(needs_jail(part) for part in grader.graders.values())
        case CompositeGrader():
            return any(needs_jail(part.grader) for part in grader.parts)
        case _:
            return isinstance(grader, JailedGrader)
