"""Graders: one file each, parameters and function together. Each returns a number, or raises ``GraderError``."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field

from trainer_core.rewards.graders import composite, multi
from trainer_core.rewards.graders.code_tests import CodeTestsGrader
from trainer_core.rewards.graders.composite import CompositeGrader
from trainer_core.rewards.graders.exact import ExactGrader
from trainer_core.rewards.graders.format import FormatGrader
from trainer_core.rewards.graders.ifeval import IfevalGrader
from trainer_core.rewards.graders.json_schema import JsonSchemaGrader
from trainer_core.rewards.graders.label_model import LabelModelGrader
from trainer_core.rewards.graders.language import LanguageGrader
from trainer_core.rewards.graders.length_penalty import LengthPenaltyGrader
from trainer_core.rewards.graders.magistral_format import MagistralFormatGrader
from trainer_core.rewards.graders.math import MathGrader
from trainer_core.rewards.graders.multi import MultiGrader
from trainer_core.rewards.graders.numeric import NumericGrader
from trainer_core.rewards.graders.plugin import PluginGrader
from trainer_core.rewards.graders.python import PythonGrader
from trainer_core.rewards.graders.regex_match import RegexGrader
from trainer_core.rewards.graders.reward_model import RewardModelGrader
from trainer_core.rewards.graders.rubric import RubricGrader
from trainer_core.rewards.graders.score_model import ScoreModelGrader
from trainer_core.rewards.graders.string_check import StringCheckGrader
from trainer_core.rewards.graders.text_similarity import TextSimilarityGrader
from trainer_core.rewards.graders.tools import Tools
from trainer_core.rewards.sample import Sample

Grader = Annotated[
    ExactGrader
    | NumericGrader
    | MathGrader
    | CodeTestsGrader
    | PythonGrader
    | PluginGrader
    | StringCheckGrader
    | TextSimilarityGrader
    | RegexGrader
    | JsonSchemaGrader
    | FormatGrader
    | MagistralFormatGrader
    | LanguageGrader
    | IfevalGrader
    | LengthPenaltyGrader
    | RubricGrader
    | LabelModelGrader
    | ScoreModelGrader
    | RewardModelGrader
    | MultiGrader
    | CompositeGrader,
    Field(discriminator="type"),
]
JailedGrader = MathGrader | CodeTestsGrader | PythonGrader | PluginGrader
"""Graders that run untrusted text, and so need the jail."""
JudgedGrader = RubricGrader | LabelModelGrader | ScoreModelGrader
"""Graders that ask a judge endpoint."""

for _model in (composite.Part, CompositeGrader, multi.MultiGrader):
    _model.model_rebuild(_types_namespace={"Grader": Grader, "Part": composite.Part, "Mapping": Mapping})


def grade(grader: Grader, sample: Sample, item: Mapping[str, Any], tools: Tools = Tools()) -> float:  # noqa: B008
    """The grade of ``sample`` for the dataset row ``item``.

    Raises:
        GraderError: the reward cannot be computed. JailError, which is one, where a jail is needed and there is none;
            JudgeError where a judge is.
    """
    match grader:
        case MathGrader() | CodeTestsGrader() | PythonGrader() | PluginGrader():
            return grader.grade(sample, item, tools.jail)
        case RubricGrader() | LabelModelGrader() | ScoreModelGrader():
            return grader.grade(sample, item, tools.judges)
        case RewardModelGrader():
            return grader.grade(sample, item, tools.models)
        case MultiGrader() | CompositeGrader():
            return grader.combine(lambda part: grade(part, sample, item, tools))
        case _:
            return grader.grade(sample, item)


def leaves(grader: Grader) -> Iterator[Any]:
    """The grader itself, or all that it combines."""
    match grader:
        case MultiGrader():
            for part in grader.graders.values():
                yield from leaves(part)
        case CompositeGrader():
            for part in grader.parts:
                yield from leaves(part.grader)
        case _:
            yield grader


def needs_jail(grader: Grader) -> bool:
    """Whether the grader, or one inside it, runs untrusted text."""
    return any(isinstance(leaf, JailedGrader) for leaf in leaves(grader))


def needs_packages(grader: Grader) -> bool:
    """Whether the grader, or one inside it, needs a jail in which the installed packages are loaded: SymPy's."""
    return any(
        isinstance(leaf, MathGrader) or (isinstance(leaf, PluginGrader) and leaf.packages) for leaf in leaves(grader)
    )
