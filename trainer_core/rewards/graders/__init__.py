"""Graders: one file each, parameters and function together. Each returns a number, or raises ``GraderError``."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from trainer_core.rewards.grader_model import GraderModel
from trainer_core.rewards.graders import composite, multi
from trainer_core.rewards.graders.code.code_tests import CodeTestsGrader
from trainer_core.rewards.graders.code.plugin import PluginGrader
from trainer_core.rewards.graders.code.python import PythonGrader
from trainer_core.rewards.graders.composite import CompositeGrader
from trainer_core.rewards.graders.math.choice import ChoiceGrader
from trainer_core.rewards.graders.math.math import MathGrader
from trainer_core.rewards.graders.math.numeric import NumericGrader
from trainer_core.rewards.graders.model.label_model import LabelModelGrader
from trainer_core.rewards.graders.model.reward_model import RewardModelGrader
from trainer_core.rewards.graders.model.rubric import RubricGrader
from trainer_core.rewards.graders.model.score_model import ScoreModelGrader
from trainer_core.rewards.graders.multi import MultiGrader
from trainer_core.rewards.graders.text.exact import ExactGrader
from trainer_core.rewards.graders.text.format import FormatGrader
from trainer_core.rewards.graders.text.ifeval import IfevalGrader
from trainer_core.rewards.graders.text.json_schema import JsonSchemaGrader
from trainer_core.rewards.graders.text.language import LanguageGrader
from trainer_core.rewards.graders.text.length_penalty import LengthPenaltyGrader
from trainer_core.rewards.graders.text.magistral_format import MagistralFormatGrader
from trainer_core.rewards.graders.text.regex_match import RegexGrader
from trainer_core.rewards.graders.text.string_check import StringCheckGrader
from trainer_core.rewards.graders.text.text_similarity import TextSimilarityGrader
from trainer_core.rewards.graders.tools import Tools
from trainer_core.rewards.reasons import tell, told
from trainer_core.rewards.sample import Sample
from trainer_core.spec.plugins import members, one_of

GRADERS = members(
    "dressage.graders",
    GraderModel,
    (
        ExactGrader,
        NumericGrader,
        MathGrader,
        ChoiceGrader,
        CodeTestsGrader,
        PythonGrader,
        PluginGrader,
        StringCheckGrader,
        TextSimilarityGrader,
        RegexGrader,
        JsonSchemaGrader,
        FormatGrader,
        MagistralFormatGrader,
        LanguageGrader,
        IfevalGrader,
        LengthPenaltyGrader,
        RubricGrader,
        LabelModelGrader,
        ScoreModelGrader,
        RewardModelGrader,
        MultiGrader,
        CompositeGrader,
    ),
)
"""Every grader that a reward may be made of: those of this package, and those of installed packages."""

if TYPE_CHECKING:
    Grader: TypeAlias = GraderModel
else:
    Grader = one_of("dressage.graders", GRADERS)

for _model in (composite.Part, CompositeGrader, multi.MultiGrader):
    _model.model_rebuild(_types_namespace={"Grader": Grader, "Part": composite.Part, "Mapping": Mapping})


def grade(grader: Grader, sample: Sample, item: Mapping[str, Any], tools: Tools = Tools()) -> float:  # noqa: B008
    """The grade of ``sample`` for the dataset row ``item``.

    Raises:
        GraderError: the reward cannot be computed. JailError, which is one, where a jail is needed and there is none;
            JudgeError where a judge is.
        GraderStopped: a grader exceeded its limits in the process that ``tools`` has for it.
    """
    if tools.pure is not None and all(leaf.tool is None for leaf in leaves(grader)):
        return tools.pure.grade(grader, sample, item)
    if isinstance(grader, MultiGrader | CompositeGrader):
        return grader.combine(lambda part: _part(part, sample, item, tools))
    if grader.tool is None:
        return grader.grade(sample, item)
    with_tool: Callable[..., float] = grader.grade
    return with_tool(sample, item, getattr(tools, grader.tool))


def _part(grader: Grader, sample: Sample, item: Mapping[str, Any], tools: Tools) -> float:
    """The grade of a grader inside another one, whose reasons are told under its name."""
    with told() as reasons:
        value = grade(grader, sample, item, tools)
    tell(": ".join([f"{grader.type} {value:.4g}", *([" ".join(reasons)] if reasons else [])]))
    return value


def leaves(grader: Grader) -> Iterator[Grader]:
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
    return any(leaf.tool == "jail" for leaf in leaves(grader))


def needs_packages(grader: Grader) -> bool:
    """Whether the grader, or one inside it, needs a jail in which the installed packages are loaded."""
    return any(leaf.needs_packages for leaf in leaves(grader))
