"""Base of every grader: parameters, and a function that grades one completion."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from trainer_core.rewards.sample import Sample
from trainer_core.spec.base import SpecModel

Tool = Literal["jail", "judges", "models"]
"""Tool that the worker brings to a grader that asks for it: a field of ``graders.tools.Tools``."""


class GraderModel(SpecModel):
    """Parameters of a grader, with its function. Both import without torch: the web tier loads them."""

    tool: ClassVar[Tool | None] = None
    """The tool that ``grade`` is handed as its third argument. With ``judges`` the parameters have a field ``endpoint``
    that names the judge, with ``models`` a field ``policy`` that names the reward model."""
    needs_length: ClassVar[bool] = False
    """Whether the grader looks at the number of tokens, which a text alone does not tell."""

    if TYPE_CHECKING:
        type: str

    @property
    def needs_packages(self) -> bool:
        """Whether the jail must hold the installed packages, which takes seconds to load."""
        return False

    @property
    def row_columns(self) -> tuple[str, ...]:
        """Columns without which no row can be graded. ``prompt`` and ``messages`` are not among them: each row has one
        of the two."""
        return ()

    def load(self) -> None:
        """Load what grading needs in this process; else the first sample pays for it with its time."""

    def grade(self, sample: Sample, item: Mapping[str, Any]) -> float:
        """The grade of a completion for the dataset row ``item``: any finite number, usually from 0 to 1.

        A grader with a tool takes it as its third argument, None where the worker brought none.

        Raises:
            GraderError: the row or the tool does not allow a grade. Bad output is no error: it scores low.
        """
        raise NotImplementedError(f"{type(self).__name__} has no function grade")
