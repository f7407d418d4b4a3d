"""Everything that a package needs to bring a loss, an advantage, a filter or a grader: the one module its parameters
import from.

Imports without torch. ``docs/development/write-a-plugin.md`` shows a package from end to end.
"""

from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.grader_model import GraderModel
from trainer_core.rewards.sample import Sample
from trainer_core.spec.base import Advice, SpecModel, field, method_doc
from trainer_core.spec.methods.kinds import AdvantageModel, FilterModel, GroupAdvantage, LossModel

__all__ = [
    "AdvantageModel",
    "Advice",
    "FilterModel",
    "GraderError",
    "GraderModel",
    "GroupAdvantage",
    "LossModel",
    "Sample",
    "SpecModel",
    "field",
    "method_doc",
]
