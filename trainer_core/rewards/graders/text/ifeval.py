"""Instruction following with checks that a program can make (IFEval, arXiv 2311.07911)."""

from collections.abc import Mapping
from typing import Any, Literal

from trainer_core.rewards.errors import GraderError
from trainer_core.rewards.grader_model import GraderModel
from trainer_core.rewards.graders.text.instructions import follows
from trainer_core.rewards.reasons import tell
from trainer_core.rewards.sample import Sample
from trainer_core.spec.base import field


class IfevalGrader(GraderModel):
    """1 if the answer follows all of the row's instructions, or the share that it follows."""

    type: Literal["ifeval"] = "ifeval"
    instructions: str = field("instruction_id_list", min_length=1, max_length=200)
    """Field of the dataset row with the names of the checks."""
    parameters: str = field("kwargs", min_length=1, max_length=200)
    """Field with one object of parameters per check."""
    credit: Literal["all", "share"] = "all"
    """All or nothing, or the share of instructions followed."""

    @property
    def row_columns(self) -> tuple[str, ...]:
        """Columns without which no row can be graded."""
        return (self.instructions, self.parameters)

    def grade(self, sample: Sample, item: Mapping[str, Any]) -> float:
        """Grade from 0.0 to 1.0. Raises GraderError where the row's instructions cannot be read or checked."""
        names, given = item.get(self.instructions), item.get(self.parameters)
        if not isinstance(names, list) or not names or not isinstance(given, list) or len(names) != len(given):
            raise GraderError(f"the row needs as many {self.parameters!r} as {self.instructions!r}, and at least one")
        followed = [
            follows(str(name), sample.answer_text, parameters or {})
            for name, parameters in zip(names, given, strict=True)
        ]
        missed = [str(name) for name, right in zip(names, followed, strict=True) if not right]
        rest = f"; not {', '.join(missed)}" if missed else ""
        tell(f"Follows {len(names) - len(missed)} of {len(names)} instructions{rest}.")
        return float(all(followed)) if self.credit == "all" else sum(followed) / len(followed)
